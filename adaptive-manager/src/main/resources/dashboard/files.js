// The pages beside the overview: the file browser with its search, and the history. The preview has a file of its own.
'use strict';

const SEARCH_PAUSE_MILLIS = 250;
// A page never has more rows than this, however many there are.
const MOST_ROWS = 1000;
const stateName = state => (STATES.find(([name]) => name === state) || [0, 'not evaluated yet'])[1];
const fileLink = path => '#/file' + encodeURI(path).replaceAll('#', '%23');
const directoryLink = path => '#/files' + encodeURI(path).replaceAll('#', '%23');

// Each page has an address of its own, so that links and the back button work.
function showPage() {
  const address = location.hash.slice(1);
  const page = address.startsWith('/file') ? 'files' : ['/preview', '/history'].includes(address) ? address.slice(1) : 'overview';
  for (const name of ['overview', 'files', 'preview', 'history']) {
    $(name).hidden = name !== page;
    if (name === page) $('to-' + name).setAttribute('aria-current', 'page');
    else $('to-' + name).removeAttribute('aria-current');
  }
  document.title = page === 'overview' ? 'EbbFS' : page[0].toUpperCase() + page.slice(1) + ' · EbbFS';
  if (page === 'history') return showHistory();
  if (page === 'preview') return showPreview();
  if (page === 'overview') return refresh();
  const path = decodeURI(address.replace(/^\/files?/, '').replaceAll('%23', '#')) || '/';
  return address.startsWith('/files') ? showDirectory(path) : showFile(path);
}

// The latest request alone may draw: an earlier one may be answered later.
let asked = 0;
async function ask(path, draw, whenFailed) {
  const mine = ++asked;
  try {
    const answer = await get(path);
    if (mine === asked) draw(answer);
  } catch (error) {
    if (mine === asked) whenFailed.replaceChildren(h('p', {class: 'none', role: 'alert'}, error.message));
  }
}

// ---- directories ------------------------------------------------------------------------------

function crumbs(path, isFile) {
  const names = path.split('/').filter(name => name);
  const parts = [h('a', {href: directoryLink('/'), 'aria-label': 'root directory'}, '/'), ' '];
  names.forEach((name, i) => {
    const to = '/' + names.slice(0, i + 1).join('/');
    const last = i === names.length - 1;
    parts.push(last ? h('span', {'aria-current': 'location'}, name)
        : h('a', {href: directoryLink(to)}, name), last ? '' : ' / ');
  });
  $('crumbs').replaceChildren(...parts);
  $('file-actions').replaceChildren(...(path === '/' ? [] : [...convertButtons(path), pinButton(path)]));
}

function showDirectory(path) {
  crumbs(path);
  $('file').hidden = true;
  $('entries').hidden = false;
  listEntries('directory?limit=100&path=' + encodeURIComponent(path), entry => entry.name, 'This directory is empty.');
}

function listEntries(query, nameOf, whenEmpty) {
  listPages($('entries'), query, {
    list: () => h('div', {role: 'table', 'aria-label': 'Files and directories'}, head()),
    rows: page => page.entries.map(entry => entryRow(entry, nameOf(entry))),
    whenEmpty,
  });
}

// Shows page after page in a list below an element. Of very many rows the latest stay, so that the page stays quick.
function listPages(box, query, kind) {
  const list = kind.list();
  const note = h('p', {class: 'none', role: 'status'});
  const buttons = h('div', {class: 'paging'});
  let shown = 0;
  const load = cursor => ask(query + (cursor ? '&cursor=' + cursor : ''), page => {
    const rows = kind.rows(page);
    if (!cursor && !rows.length && !page.nextCursor) return box.replaceChildren(h('p', {class: 'none'}, kind.whenEmpty));
    list.append(...rows);
    shown += rows.length;
    const old = [...list.children].filter(row => !row.classList.contains('head'));
    old.slice(0, Math.max(0, old.length - MOST_ROWS)).forEach(row => row.remove());
    if (!cursor) box.replaceChildren(list, note, buttons);
    showPaging(note, buttons, {shown, kept: Math.min(shown, MOST_ROWS), next: page.nextCursor, load, again: () => listPages(box, query, kind)});
    if (cursor && rows.length) (rows[0].querySelector('a') || rows[0]).focus();
  }, box);
  load(null);
}

function showPaging(note, buttons, state) {
  const first = state.shown - state.kept + 1;
  note.textContent = state.next ? `${count(first)} to ${count(state.shown)} are shown; there are more.`
      : first > 1 ? `${count(first)} to ${count(state.shown)} are shown; these are the last.` : '';
  buttons.replaceChildren(...(state.next ? [more('Show more', () => state.load(state.next))] : []),
      ...(first > 1 ? [more('Back to the first', state.again)] : []));
}

function more(label, act) {
  const button = h('button', {type: 'button', class: 'more'}, label);
  button.addEventListener('click', () => {
    button.disabled = true;
    act();
  });
  return button;
}

const head = () => h('div', {class: 'entry head', role: 'row'}, ...['Name', 'State', 'Heat', 'Size', 'Stored']
    .map(text => h('span', {role: 'columnheader'}, text)));

function entryRow(entry, name) {
  const cell = (style, text) => h('span', {class: style, role: 'cell'}, text);
  if (entry.directory) {
    return h('div', {class: 'entry', role: 'row'}, h('span', {class: 'name', role: 'cell'},
        h('a', {href: directoryLink(entry.path)}, name + '/')), cell('state', 'directory'),
        cell('heat', readsBelow(entry)));
  }
  const file = entry.file;
  return h('div', {class: 'entry', role: 'row'}, h('span', {class: 'name', role: 'cell'},
      h('a', {href: fileLink(entry.path), title: file.reason}, name)),
      cell('state', stateName(file.state)), cell('heat' + (file.hot ? ' hot' : ''), heat(file)),
      cell('size', bytes(file.lengthBytes)), cell('stored', bytes(file.storedBytes)));
}

// The reads of a directory are the sum of those of all files below it.
const readsBelow = entry => entry.reads ? Charts.number(entry.reads.heat) : 'not known yet';
const heat = file => Charts.number(file.heat) + (file.hot ? ' hot' : '');

// ---- one file ---------------------------------------------------------------------------------

function showFile(path) {
  crumbs(path, true);
  $('entries').hidden = true;
  $('file').hidden = false;
  ask('file?path=' + encodeURIComponent(path), drawFile, $('file'));
}

function directories(above) {
  return above.flatMap((entry, i) => [i ? ' · ' : '',
    h('a', {href: directoryLink(entry.path)}, entry.path), ' ' + readsBelow(entry)]);
}

function drawFile(answer) {
  const file = answer.file;
  const facts = [
    ['State', stateName(file.state)], ['Why', file.reason],
    ['Policy', file.policy || 'none'],
    ...(file.pin && file.pin !== 'NONE' ? [['Pinned to', file.pin.toLowerCase()]] : []),
    ['Heat', Charts.number(file.heat) + (file.hot ? ' reads, read-hot' : ' reads, read-cold')],
    ['Heat of its directories', directories(answer.directories)],
    ['Size', bytes(file.lengthBytes) + ' in ' + count(file.blocks) + (file.blocks === 1 ? ' block' : ' blocks')],
    ['In stripes', count(file.stripedBlocks) + ' of ' + count(file.blocks) + ' blocks'],
    ['Changed', new Date(answer.modifiedMillis).toLocaleString()],
  ];
  $('file').replaceChildren(
      h('dl', {class: 'facts'}, ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, ...[value].flat())])),
      h('h3', {}, 'Stripes'),
      answer.stripes.length ? h('ul', {class: 'plain'}, ...answer.stripes.map(stripe => h('li', {},
          h('b', {}, stripe.code), ` stripe ${stripe.id}: ${bytes(stripe.liveBytes)} of data, ${bytes(stripe.parityBytes)} of parities`,
          stripe.deadBytes ? `, ${bytes(stripe.deadBytes)} deleted` : '',
          stripe.lostPositions.length ? h('em', {}, `, ${stripe.lostPositions.length} blocks lost`) : '',
          stripe.transitionId ? `, in transition ${stripe.transitionId}` : '')))
          : h('p', {class: 'none'}, 'The blocks of the file are replicated.'),
      h('h3', {}, 'Transitions'),
      answer.transitions.length ? h('ul', {class: 'plain'}, ...answer.transitions.map(t => h('li', {class: t.state},
          h('b', {}, t.state.toLowerCase().replace('_', ' ')), ` to ${targetOf(t)}: ${t.reason} `,
          t.failure && t.state !== 'DONE' ? h('em', {}, t.failure + ' ') : '', transitionButton(t))))
          : h('p', {class: 'none'}, 'None is under way, and none ended recently.'));
}

// ---- search -----------------------------------------------------------------------------------

function search(text) {
  if (!text) return showPage();
  // The results are of the whole cluster: no button for the directory before may stand above them.
  $('crumbs').replaceChildren('Search: ' + text);
  $('file-actions').replaceChildren();
  $('file').hidden = true;
  $('entries').hidden = false;
  listEntries('search?limit=100&text=' + encodeURIComponent(text), entry => entry.path,
      'No ' + (text.startsWith('/') ? 'path' : 'name') + ' begins with “' + text + '”. A part from the middle of a name'
          + ' is not searched for, and upper and lower case differ.');
}

// ---- history ----------------------------------------------------------------------------------

function showHistory() {
  listPages($('history-entries'), 'history?limit=50', {list: () => h('ol', {id: 'history-list'}),
    rows: page => page.entries.map(historyRow), whenEmpty: 'Nothing was decided yet.'});
}

function historyRow(entry) {
  const made = entry.transitionIds.length;
  const to = entry.what === 'RELEASE' ? 'replicas' : entry.toCode;
  return h('li', {tabindex: '-1'}, h('time', {datetime: new Date(entry.atMillis).toISOString()}, new Date(entry.atMillis).toLocaleString()),
      h('span', {class: 'what'}, entry.what.toLowerCase(), to ? ' → ' + to : ''),
      h('span', {class: 'by'}, entry.by === 'operator' ? 'by an operator' : 'by policy ' + entry.policy),
      h('span', {class: 'why'}, entry.reason, made ? ' · ' + count(made) + (made === 1 ? ' transition' : ' transitions') : '',
          entry.refusal ? h('em', {}, 'refused: ' + entry.refusal) : null));
}

function initPages() {
  let pause = 0;
  $('search').addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => search($('search').value.trim()), SEARCH_PAUSE_MILLIS);
  });
  $('search-form').addEventListener('submit', event => {
    event.preventDefault();
    search($('search').value.trim());
  });
  window.addEventListener('hashchange', () => {
    $('search').value = '';
    showPage();
  });
}

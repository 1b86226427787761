// The page on which somebody edits the policies and sees what they would do. Nothing comes into force here.
'use strict';

const PREVIEW_PAUSE_MILLIS = 500;
const MOST_POLICY_BYTES = 65536;
const MOST_PREVIEWED_DECISIONS = 12;

// The latest preview alone may draw: an earlier one may be answered later.
let previews = 0;

// The policies in force, as they were read last.
let loadedPolicies = '';

// An edit stays while somebody looks at another page; policies that nobody has edited are read again.
function showPreview() {
  showPreviewToken();
  if ($('edited').value === loadedPolicies) resetEdit();
}

const showPreviewToken = () => { $('preview-token-row').hidden = !!sessionStorage.getItem(TOKEN); };

async function resetEdit() {
  previews++;
  clearPreview('');
  try {
    loadedPolicies = (await get('policies/text')).text;
    $('edited').value = loadedPolicies;
  } catch (error) {
    $('preview-error').textContent = error.message;
  }
}

function clearPreview(note) {
  $('preview-note').textContent = note;
  $('preview-error').textContent = '';
  $('preview-result').replaceChildren();
}

async function previewEdit() {
  const mine = ++previews;
  const text = $('edited').value;
  clearPreview('');
  if (!takeToken($('preview-token'))) {
    $('preview-error').textContent = 'Enter the API token first.';
    return;
  }
  if (new Blob([text]).size > MOST_POLICY_BYTES) {
    $('preview-error').textContent = 'The text is longer than ' + bytes(MOST_POLICY_BYTES) + ' → shorten it.';
    return;
  }
  clearPreview('The policies are being looked at.');
  try {
    let answer = await post('policies/preview', {}, text);
    while (mine === previews && !answer.done) {
      $('preview-note').textContent = count(answer.looked) + ' files and directories were looked at so far; the cluster has '
          + count(answer.files) + ' files.';
      await new Promise(resolve => setTimeout(resolve, PREVIEW_PAUSE_MILLIS));
      if (mine === previews) answer = await get('policies/previewed?job=' + answer.job);
    }
    if (mine === previews) drawPreview(answer);
  } catch (error) {
    if (error.status === 401) sessionStorage.removeItem(TOKEN);
    if (mine !== previews) return;
    clearPreview('');
    $('preview-error').textContent = error.message;
  } finally {
    showPreviewToken();
  }
}

function drawPreview(answer) {
  clearPreview('');
  const decisions = answer.decisions.slice(0, MOST_PREVIEWED_DECISIONS);
  const more = answer.decisionCount - decisions.length;
  $('preview-result').replaceChildren(
      h('ul', {class: 'plain'}, ...previewSummary(answer).map(line => h('li', {}, line))),
      previewTable(answer),
      ...(decisions.length ? [h('h3', {}, 'Decisions'), h('ul', {class: 'plain'}, ...decisions.map(decision =>
          h('li', {}, h('b', {}, decision.kind.toLowerCase() + ' → ' + decision.toCode), ' by policy ' + decision.policy + ': '
              + bytes(decision.dataBytes) + '. ' + decision.reason)))] : []),
      ...(more > 0 ? [h('p', {class: 'none'}, 'And ' + count(more) + ' more.')] : []));
}

const sumOf = (answer, name) => answer.policies.reduce((sum, policy) => sum + policy[name], 0);

function previewSummary(answer) {
  const about = answer.sampledShare < 1 ? 'About ' : '';
  const data = sumOf(answer, 'encodeBytes') + sumOf(answer, 'toCompactBytes') + sumOf(answer, 'toFastBytes');
  const moved = sumOf(answer, 'movedBytes');
  return [
    data ? about + bytes(data) + ' of data would be encoded or converted.' : 'Nothing would be encoded or converted now.',
    moved ? about + bytes(moved) + ' would be read and written for it.' : '',
    answer.sampledShare < 1 ? 'The figures are estimates from ' + percent(answer.sampledShare) + ' of the files; ± tells how far they may be'
        + ' off, with a confidence of 95%.' : '',
    answer.filesWithoutPolicy ? about + count(answer.filesWithoutPolicy) + (answer.filesWithoutPolicy === 1 ? ' file' : ' files')
        + ' would have no policy.' : '',
    ...answer.refusals.map(refusal => 'Policy ' + refusal.policy + ': ' + refusal.message + ' → ' + refusal.remedy),
  ].filter(line => line);
}

// What would move, what that costs, and where the storage ends. The roles stay where a narrow screen has no columns.
const PREVIEW_COLUMNS = ['Encoded', 'To compact', 'To fast', 'Read and written', 'Stored per byte now', 'Stored per byte then', 'Bound'];

function previewTable(answer) {
  const all = {policy: 'All policies', ...answer.cluster};
  for (const name of ['encodeBytes', 'toCompactBytes', 'toFastBytes', 'movedBytes']) all[name] = sumOf(answer, name);
  const column = name => h('th', {scope: 'col', role: 'columnheader'}, name);
  return h('table', {class: 'preview', role: 'table', 'aria-label': 'What each policy would do'},
      h('thead', {role: 'rowgroup'}, h('tr', {role: 'row'}, column('Policy'), ...PREVIEW_COLUMNS.map(column))),
      h('tbody', {role: 'rowgroup'}, ...[...answer.policies, all].map(previewRow)));
}

function previewRow(policy) {
  const margin = (name, show) => policy.margins && policy.margins[name] ? ' ± ' + show(policy.margins[name]) : '';
  const size = name => bytes(policy[name]) + margin(name, bytes);
  const overhead = name => times(policy[name]) + margin(name, value => value.toFixed(2));
  const over = policy.bound && policy.endOverhead > policy.bound + 1e-9;
  const cells = [size('encodeBytes'), size('toCompactBytes'), size('toFastBytes'), size('movedBytes'),
    overhead('overhead'), overhead('endOverhead'), policy.bound ? times(policy.bound) : 'none'];
  return h('tr', {role: 'row'}, h('th', {scope: 'row', role: 'rowheader'}, policy.policy), ...cells.map((text, i) =>
      h('td', {role: 'cell', 'data-name': PREVIEW_COLUMNS[i], class: over && PREVIEW_COLUMNS[i].endsWith('then') ? 'over' : ''}, text)));
}

function initPreview() {
  $('preview-form').addEventListener('submit', event => {
    event.preventDefault();
    previewEdit();
  });
  $('preview-reset').addEventListener('click', resetEdit);
}

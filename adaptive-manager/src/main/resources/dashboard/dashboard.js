// Draws the dashboard from the API and refreshes it. Data is inserted as text nodes only, never as HTML.
'use strict';

const REFRESH_MILLIS = 2000;
const STATES = [
  ['UNDER_CONSTRUCTION', 'being written'], ['TOO_NEW', 'write-hot'], ['WAITING', 'waiting'],
  ['ENCODING', 'encoding'], ['FAST', 'fast code'], ['MIXED', 'fast and compact'],
  ['COMPACT', 'compact code'], ['ENCODED', 'encoded'], ['OTHER_CODE', 'another code'], ['FAILED', 'failed'],
  ['TOO_SMALL', 'too small'], ['PINNED', 'pinned to replicas'], ['CLIENT_STRIPED', 'encoded by clients'], ['NO_POLICY', 'no policy'],
];
const $ = id => document.getElementById(id);

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const replace = (element, ...children) => element.replaceChildren(...children.filter(child => child));

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
  return (value >= 100 || unit === 0 ? value.toFixed(0) : value.toFixed(1)) + ' ' + units[unit];
}

const count = value => value.toLocaleString('en');
const times = value => value ? value.toFixed(2) + '×' : '–';
const percent = value => value > 0 && value < 0.0005 ? '<0.1%'
    : (100 * value).toFixed(value < 0.1 && value > 0 ? 1 : 0) + '%';

function ago(millis) {
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (seconds < 90) return seconds + ' s';
  if (seconds < 5400) return Math.round(seconds / 60) + ' min';
  return seconds < 172800 ? Math.round(seconds / 3600) + ' h' : Math.round(seconds / 86400) + ' d';
}

function bar(parts) {
  const element = h('div', {class: 'bar'});
  for (const [value, style, title] of parts) {
    if (value > 0) {
      const part = h('i', {class: style.startsWith('--') ? '' : style, title});
      part.style.flexGrow = value;
      part.style.flexBasis = '0';
      if (style.startsWith('--')) part.style.background = `var(${style})`;
      element.append(part);
    }
  }
  return element;
}

// ---- health and tiles -------------------------------------------------------------------------

function drawHealth(health) {
  $('pause').replaceChildren(pauseButton(health.pausedSinceMillis));
  if (!$('dry-run').hasChildNodes()) $('dry-run').append(dryRunButton());
  if (!$('level').hasChildNodes()) $('level').append(...levelButtons());
  const status = $('status');
  status.className = 'pill ' + health.status;
  const n = health.messages.length;
  status.textContent = health.pausedSinceMillis ? 'paused' : health.status === 'OK' ? 'all well'
      : n + (n === 1 ? ' message' : ' messages');
  $('health').hidden = n === 0;
  $('health').replaceChildren(...health.messages.slice(0, 8).map(m =>
      h('div', {class: 'message ' + m.level}, h('b', {}, m.subject),
          h('span', {}, m.message + ' ', h('span', {class: 'remedy'}, '→ ' + m.remedy)))));
}

function tile(label, value, unit, note, extra, mood) {
  return h('div', {class: 'tile ' + (mood || '')}, h('div', {class: 'label'}, label),
      h('div', {class: 'value'}, value, h('small', {}, unit ? ' ' + unit : '')), extra,
      h('div', {class: 'note'}, note));
}

function riskOf(cluster) {
  const risk = cluster.atRisk;
  const stripes = risk.stripesByLoss.reduce((a, b) => a + b, 0);
  return {stripes, fatal: risk.missingBlocks + risk.unrecoverableStripes,
      all: stripes + risk.missingBlocks + risk.unrecoverableStripes + risk.underReplicatedBlocks};
}

// The stripes that break a rule of placement, and how many of them are being re-placed.
function placementLine(cluster) {
  const of = name => cluster.counters[name] || 0;
  const done = of('transitions.MOVE.DONE');
  const moves = done ? ' · ' + count(done) + ' stripes re-placed so far' : '';
  return h('p', {class: 'none'}, of('placementViolations')
      ? count(of('placementViolations')) + ' placement violations in '
          + count(of('placementViolations.stripes')) + ' stripes; '
          + count(of('placementViolations.beingMended')) + ' stripes are being re-placed' + moves
      : 'No placement violations' + moves);
}

// The last whole pass of the parity scrub and its findings.
function scrubTile(scrub, now) {
  if (!scrub.passStartedMillis) return tile('Parity scrub', '–', '', 'no stripe was scrubbed yet');
  const ended = scrub.endedMillis;
  const note = scrub.suspectStripes ? scrub.suspectStripes + ' stripes with suspect data'
      : ended ? count(scrub.endedStripes) + ' stripes ' + ago(now - ended) + ' ago'
      : count(scrub.passStripes) + ' stripes so far';
  const isOver = ended >= scrub.passStartedMillis;
  return tile('Parity scrub', count(ended ? scrub.endedFindings : scrub.passFindings), 'findings',
      h('span', {}, note + ' ', isOver ? scrubButton() : null), null, scrub.suspectStripes ? 'bad' : '');
}

// A server that is drained, or hibernates, may be stopped.
const isDown = server => !server.live && !server.hibernation && (!server.drain || server.drain.state !== 'DRAINED');

function drawTiles(cluster, jobs, transitions, scrub) {
  const files = hot => cluster.filesByState.filter(c => c.hot === hot)
      .reduce((sum, c) => sum + c.files, 0);
  const live = cluster.servers.filter(server => server.live);
  const disks = live.flatMap(server => server.disks);
  const good = disks.filter(disk => !disk.failed).length;
  const running = transitions.filter(t => t.state === 'RUNNING').length;
  const risk = riskOf(cluster);
  const used = cluster.capacityBytes ? cluster.usedBytes / cluster.capacityBytes : 0;
  $('tiles').replaceChildren(
      tile('Stored per byte', times(cluster.overhead), '',
          bytes(cluster.logicalBytes) + ' take ' + bytes(cluster.storedBytes)),
      tile('Capacity used', percent(used), '',
          bytes(cluster.usedBytes) + ' of ' + bytes(cluster.capacityBytes),
          bar([[used, '--cold'], [1 - used, '--track']])),
      tile('Files', count(cluster.files), '', count(files(true)) + ' hot, ' + count(files(false))
          + ' cold', bar([[files(true), '--hot'], [files(false), '--cold']])),
      tile('Transitions', count(running), 'running', count(jobs.waiting) + ' planned'),
      tile('Servers', live.length + '', 'of ' + cluster.servers.length,
          good + ' of ' + disks.length + ' disks work', null,
          cluster.servers.some(isDown) || good < disks.length ? 'bad' : ''),
      tile('At risk', count(risk.all), '', risk.all ? 'blocks and stripes, see below'
          : 'every block is safe', null, risk.fatal ? 'bad' : risk.all ? '' : 'good'),
      scrubTile(scrub, cluster.timeMillis));
}

// The first steps, shown while nothing is stored.
function drawFirstSteps(cluster) {
  $('first-steps').hidden = cluster.files > 0;
  $('hdfs-put').textContent = 'hdfs dfs -D fs.defaultFS=hdfs://' + cluster.namenode + ' -put DIR /';
}

// ---- policies and their charts ----------------------------------------------------------------

// The encoded data of all policies against the bound of the cluster.
function drawClusterBound(policies) {
  const overhead = policies.cluster ? policies.cluster.encodedOverhead : 0;
  const bound = policies.storageBound;
  replace($('cluster-bound'), h('b', {}, 'All policies'), h('span', {class: 'codes'}, 'encoded data of the cluster'),
      h('span', {class: 'now' + (bound && overhead > bound + 1e-9 ? ' over' : '')}, times(overhead),
          h('small', {}, bound ? ' of ' + times(bound) : ' no bound')), clusterBoundButton(bound));
}

function drawPolicies(policies, timeline) {
  const box = $('policies');
  const known = new Map([...box.children].map(child => [child.dataset.name, child]));
  const wanted = policies.policies.map(policy => {
    const element = known.get(policy.name) || emptyPolicy(policy.name);
    known.delete(policy.name);
    return element;
  });
  known.forEach(element => Charts.forget(element.querySelector('.chart')));
  if (wanted.length !== box.children.length || wanted.some((e, i) => e !== box.children[i])) {
    box.replaceChildren(...wanted);
  }
  wanted.forEach((element, i) => drawPolicy(element, policies.policies[i], timeline));
}

function emptyPolicy(name) {
  return h('div', {'data-name': name}, h('div', {class: 'policy-head'}),
      h('div', {class: 'chart', role: 'img', 'aria-label': 'Overhead of policy ' + name + ' over time'}),
      h('div', {class: 'below'}));
}

function drawPolicy(element, policy, timeline) {
  const [head, chart, below] = element.children;
  const account = policy.account;
  const overhead = account ? account.encodedOverhead : 0;
  const over = policy.storageBound && overhead > policy.storageBound + 1e-9;
  replace(head, h('b', {}, policy.name),
      h('span', {class: 'codes'},
          policy.code || policy.fastCode + ' when hot, ' + policy.compactCode + ' when cold'),
      h('span', {class: 'now' + (over ? ' over' : '')}, times(overhead),
          h('small', {}, policy.storageBound ? ' of ' + times(policy.storageBound)
              : policy.code ? '' : ' no bound')), policy.code ? null : boundButton(policy));
  below.replaceChildren(share(policy, account), ...reads(policy, account), ...packing(account));
  const points = timeline.samples
      .map(sample => ({time: sample.timeMillis,
          point: sample.policies.find(p => p.policy === policy.name)}))
      .filter(sample => sample.point);
  drawChart(chart, points, policy.storageBound);
}

// The axis ends at a usual overhead: three replicas store 3 bytes per byte. A policy with little data may
// store many times more for a moment, while the parities of its first stripe are stored and its data
// does not count as encoded yet.
const USUAL_OVERHEAD = 3.2;

function drawChart(element, points, bound) {
  const value = number => number > 0 ? number : NaN;
  Charts.draw(element, {kind: 'lines', height: 210, time: true, unit: '×', yFrom: 1, usual: USUAL_OVERHEAD,
    yLabel: 'bytes stored per byte',
    lines: [{name: 'all data, replicas included', colour: 'var(--total)', points: points.map(p => [p.time, value(p.point.totalOverhead)])},
      {name: 'encoded data', colour: 'var(--encoded)', points: points.map(p => [p.time, value(p.point.encodedOverhead)])}],
    levels: bound ? [{y: bound, text: 'bound ' + times(bound), colour: 'var(--bound)'}] : []});
}

function share(policy, account) {
  if (!account || account.liveBytes + account.replicatedBytes === 0) {
    return h('div', {class: 'share none'}, 'no files yet');
  }
  const compact = account.liveBytes - account.fastBytes;
  const all = account.liveBytes + account.replicatedBytes;
  return shareBar('Bytes', [[account.fastBytes, '--hot', 'fast'],
      [compact, '--cold', policy.code ? 'encoded' : 'compact'],
      [account.replicatedBytes, '--neutral', 'replicated']], all, value => ' · ' + bytes(value));
}

function shareBar(label, parts, all, more) {
  return h('div', {class: 'share'}, h('div', {class: 'share-bar'}, h('span', {}, label), bar(parts)),
      h('div', {class: 'share-text'}, ...parts.map(([value, color, name]) => {
        const key = h('i', {class: 'key'});
        key.style.background = `var(${color})`;
        return h('span', {}, key, name + ' ' + percent(value / all) + more(value));
      })));
}

// The share of recent block reads that each code serves, and the cost of a degraded read.
function reads(policy, account) {
  const lines = [], served = account && account.reads, cost = policy.degradedReadBlocks;
  if (served && served.blockReads > 0) {
    const rest = 1 - served.fastShare - served.compactShare - served.replicatedShare;
    lines.push(shareBar('Reads', [[served.fastShare, '--hot', 'fast'],
        [served.compactShare, '--cold', policy.code ? 'encoded' : 'compact'],
        [served.replicatedShare, '--neutral', 'replicated'],
        ...(rest > 0.0005 ? [[rest, '--total', 'another code']] : [])], 1, () => ''));
  }
  if (cost) {
    lines.push(h('div', {class: 'share-text'}, h('span', {}, 'A degraded read decodes one block from '
        + Object.entries(cost).map(([code, blocks]) => Charts.number(blocks) + ' blocks in ' + code).join(', ')
        + '; a replica is read as it is.')));
  }
  return lines;
}

// The causes of the stripes' overhead. The title shows them for each code.
function packing(account) {
  if (!account || account.liveBytes === 0) return [];
  const more = value => (value < 0 ? '−' : '+') + Math.abs(value).toFixed(4) + '×';
  const text = p => `code ${p.ownOverhead.toFixed(4)}×, padding ${more(p.paddingOverhead)}, `
      + `unfilled ${more(p.unfilledOverhead)}, deleted ${more(p.deadOverhead)}`;
  const title = Object.entries(account.packingByCode).map(([code, p]) => `${code}: ${text(p)}; `
      + `${bytes(p.paddingBytes)}, ${bytes(p.unfilledBytes)}, ${bytes(p.deadBytes)}`).join('\n');
  return [h('div', {class: 'share-text', title},
      h('span', {}, 'stripes: ' + text(account.packing)))];
}

// ---- states, risk, bytes moved ----------------------------------------------------------------

function drawStates(cluster) {
  const rows = STATES.map(([state, name]) => {
    const of = hot => cluster.filesByState.find(c => c.state === state && c.hot === hot)
        || {files: 0, bytes: 0};
    return {name, hot: of(true), cold: of(false)};
  }).filter(row => row.hot.files + row.cold.files > 0);
  const most = Math.max(1, ...rows.map(row => row.hot.files + row.cold.files));
  $('states').replaceChildren(...(rows.length ? rows.map(row => {
    const files = row.hot.files + row.cold.files;
    return h('div', {class: 'row'}, h('span', {class: 'name'}, row.name),
        bar([[row.hot.files, '--hot', count(row.hot.files) + ' hot'],
            [row.cold.files, '--cold', count(row.cold.files) + ' cold'],
            [most - files, 'gap', '']]),
        h('span', {class: 'figure'}, count(files) + ' · ' + bytes(row.hot.bytes + row.cold.bytes)));
  }) : [h('p', {class: 'none'}, 'no files yet')]));
}

// How far the scans are that look for blocks and stripes at risk which no event has reported.
function scanLine(cluster) {
  return h('p', {class: 'none'}, ...cluster.scans.map(scan => 'All ' + scan.name + ' were '
      + (scan.completedMillis ? 'last looked at ' + ago(cluster.timeMillis - scan.completedMillis) + ' ago' : 'not looked at yet')
      + (scan.completedMillis >= scan.startedMillis && scan.completedMillis ? '. '
          : '; ' + count(scan.visited) + (scan.rows ? ' of about ' + count(scan.rows) : '') + ' so far. ')));
}

function drawRisk(cluster) {
  const risk = cluster.atRisk;
  if (riskOf(cluster).all === 0) {
    $('risk').replaceChildren(h('div', {class: 'safe'}, h('i', {}, '✓'), 'No block is lost or waits for repair'),
        placementLine(cluster), scanLine(cluster));
    return;
  }
  const loss = (value, text, style) =>
      h('div', {class: 'loss ' + (value > 0 ? style : '')}, h('b', {}, count(value)), h('span', {}, text));
  $('risk').replaceChildren(h('div', {class: 'losses'},
      ...risk.stripesByLoss.map((n, i) =>
          loss(n, 'stripes lost ' + (i + 1) + (i ? ' blocks' : ' block'), 'some')),
      loss(risk.underReplicatedBlocks, 'blocks short of replicas', 'some'),
      loss(risk.missingBlocks, 'blocks missing', 'fatal'),
      loss(risk.unrecoverableStripes, 'stripes beyond repair', 'fatal')), placementLine(cluster), scanLine(cluster));
}

function drawMoved(cluster) {
  const moved = Object.entries(cluster.counters).filter(([name]) => name.startsWith('bytesMoved.'))
      .map(([name, value]) => [name.slice(11), value]).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...moved.map(m => m[1]));
  const rows = moved.map(([kind, value]) => h('div', {class: 'row'},
      h('span', {class: 'name'}, kindName(cluster, kind.toUpperCase())),
      bar([[value, '--cold', bytes(value)], [most - value, 'gap', '']]),
      h('span', {class: 'figure'}, bytes(value))));
  const sum = prefix => Object.entries(cluster.counters)
      .filter(([name]) => name.startsWith(prefix)).reduce((a, [, value]) => a + value, 0);
  rows.push(h('p', {class: 'none'}, count(sum('degradedReads.')) + ' degraded reads were served and '
      + count(sum('repairedBlocks.')) + ' blocks were repaired. ' + count(cluster.opens.events)
      + ' opens were counted. ' + count(sum('verifications.')) + ' checks of written blocks passed, '
      + count(sum('verificationsFailed.')) + ' failed; the checks read ' + bytes(sum('verificationBytesRead.')) + '.'));
  $('moved').replaceChildren(...rows);
}

const fill = disk => disk.capacityBytes ? disk.usedBytes / disk.capacityBytes : 0;

function kindName(cluster, kind) {
  const words = cluster.transitionKinds[kind] || kind;
  return words[0].toUpperCase() + words.slice(1);
}

// ---- servers and transitions ------------------------------------------------------------------

function drawServers(cluster) {
  const disks = cluster.servers.flatMap(server => server.disks).filter(disk => !disk.failed);
  const racks = new Set(cluster.servers.map(server => server.rack)).size;
  const fullest = Math.max(0, ...disks.map(fill));
  // Nearly empty disks would all look alike, so they are compared with the fullest disk.
  const scale = fullest > 0 && fullest < 0.1 ? fullest : 1;
  $('scale').textContent = scale === 1 ? 'used of capacity' : 'used, against the fullest disk';
  const scan = cluster.scans.find(s => s.name === 'blocks');
  const counted = scan && scan.completedMillis ? ' as of ' + ago(cluster.timeMillis - scan.completedMillis) + ' ago' : '';
  $('servers').replaceChildren(...serversToShow(cluster.servers).map(server =>
      h('div', {class: 'server' + (isDown(server) ? ' dead' : ''), title: server.uuid},
          h('div', {class: 'name'}, server.name + (racks > 1 ? ' ' + server.rack : '')),
          h('div', {class: 'disks'}, ...server.disks.map(disk => {
            const level = h('i', {});
            level.style.height = Math.max(disk.usedBytes ? 4 : 0, 100 * fill(disk) / scale) + '%';
            return h('div', {class: 'disk' + (disk.failed ? ' failed' : ''),
                title: disk.failed ? 'failed' : bytes(disk.usedBytes) + ' of '
                    + bytes(disk.capacityBytes) + ', ' + count(disk.blocks) + ' blocks' + counted},
                disk.failed ? null : level);
          })),
          h('div', {class: 'used'}, server.live
              ? bytes(server.disks.reduce((sum, disk) => sum + (disk.failed ? 0 : disk.usedBytes), 0)) + ' used'
              : h('span', {class: isDown(server) ? 'down' : ''}, 'down')),
          server.drain ? drainState(server.drain) : null,
          server.hibernation ? hibernationState(server.hibernation) : null,
          h('div', {class: 'used'}, server.hibernation ? null : drainButton(server),
              server.drain ? null : hibernateButton(server)))));
}

// Of a large cluster the servers that somebody has to look at come first, and the rest is shown when it is asked for.
const MOST_SERVERS = 60;
let everyServer = false;

const needsALook = server => isDown(server) || !!server.drain || !!server.hibernation || server.disks.some(disk => disk.failed);

function serversToShow(servers) {
  const more = $('more-servers');
  const large = servers.length > MOST_SERVERS;
  more.hidden = !large;
  if (!large) return servers;
  const some = [...servers.filter(needsALook), ...servers.filter(server => !needsALook(server))].slice(0, MOST_SERVERS);
  const button = more.querySelector('button') || more.appendChild(moreServersButton());
  button.textContent = everyServer ? 'Show fewer' : 'Show all ' + count(servers.length) + ' servers';
  more.querySelector('span').textContent = everyServer ? '' : count(some.length) + ' of ' + count(servers.length)
      + ' servers are shown, first those that are down, being drained, or have a failed disk. ';
  return everyServer ? servers : some;
}

function moreServersButton() {
  const button = h('button', {type: 'button', class: 'act'});
  button.addEventListener('click', () => {
    everyServer = !everyServer;
    refresh();
  });
  return button;
}

// How far the drain of a server is: what is left, and how long that takes at the speed of the last minutes.
function drainState(drain) {
  const left = drain.blocksLeft == null ? 'its blocks are being counted'
      : count(drain.blocksLeft) + (drain.blocksLeft === 1 ? ' block, ' : ' blocks, ') + bytes(drain.bytesLeft) + ' left'
          + (drain.bytesPerSecond ? ' at ' + bytes(drain.bytesPerSecond) + '/s' : '')
          + (drain.secondsLeft ? ', about ' + timeLeft(drain.secondsLeft) : '');
  return h('div', {class: 'used drain'},
      drain.state === 'DRAINED' ? 'drained: it may be stopped' : 'draining: ' + left,
      drain.stuck ? h('div', {class: 'down'}, drain.stuck) : null);
}

function hibernationState(hibernation) {
  return h('div', {class: 'used drain'},
      (hibernation.ready ? 'hibernates, it may be stopped: until ' : 'is to hibernate: its blocks are being checked, until ')
          + new Date(hibernation.untilMillis).toLocaleString(),
      hibernation.stuck ? h('div', {class: 'down'}, hibernation.stuck) : null);
}

const timeLeft = seconds => seconds < 120 ? count(seconds) + ' s'
    : seconds < 7200 ? count(Math.round(seconds / 60)) + ' min' : count(Math.round(seconds / 3600)) + ' h';

// Explains why a live server holds no blocks while other servers do. The commit of a repair makes the old
// replica an excess replica, so a server that returns after the repair deletes its repaired blocks.
function drawEmptyServers(cluster) {
  const blocks = server => server.disks.reduce((sum, disk) => sum + disk.blocks, 0);
  const empty = cluster.servers.filter(server => server.live && server.disks.length && blocks(server) === 0);
  const note = $('empty-servers');
  note.hidden = !empty.length || !cluster.servers.some(server => blocks(server) > 0);
  const one = empty.length === 1;
  note.textContent = empty.map(server => server.name).join(', ') + (one ? ' holds' : ' hold') + ' no blocks. '
      + (one ? 'The server is' : 'These servers are') + ' new, or returned after the blocks were repaired on other servers: '
      + 'then the old replicas are excess and are deleted. New files, new parities and repairs will use '
      + (one ? 'the server' : 'these servers') + '. A stored block moves there only if re-placement protects its stripe '
      + 'better, or if the disks are levelled.';
}

function drawKinds(cluster, counts) {
  const of = (kind, state) => counts[kind + '.' + state] || 0;
  const rows = Object.keys(cluster.transitionKinds).map(kind => {
    const total = Object.entries(cluster.counters)
        .filter(([n]) => n.toUpperCase() === 'TRANSITIONS.' + kind + '.DONE').map(([, v]) => v)[0];
    return {name: kindName(cluster, kind), done: Math.max(total || 0, of(kind, 'DONE')), running: of(kind, 'RUNNING'),
        planned: of(kind, 'PLANNED'), failed: of(kind, 'FAILED') + of(kind, 'NO_SPACE') + of(kind, 'NO_DOMAINS')};
  }).filter(row => row.done + row.running + row.planned + row.failed > 0);
  $('kinds').replaceChildren(...rows.map(row => h('div', {class: 'kind'},
      h('div', {class: 'head'}, h('span', {}, row.name), h('span', {},
          count(row.done) + ' of ' + count(row.done + row.running + row.planned + row.failed))),
      bar([[row.done, 'done-bar', row.done + ' done'], [row.running, 'running-bar', row.running + ' running'],
          [row.planned, 'planned-bar', row.planned + ' planned'],
          [row.failed, 'failed-bar', row.failed + ' failed']]))));
}

// Why the last attempt has failed, or why there is nothing left to do.
function failureOf(t) {
  if (!t.failure || t.state === 'DONE') return null;
  return t.state === 'DROPPED' ? h('span', {class: 'none'}, ' · ' + t.failure)
      : h('em', {}, 'attempt ' + t.attempt + ': ' + t.failure);
}

// What a release leaves behind is replicas; its code is that of the stripe.
const targetOf = t => t.kind === 'RELEASE' ? 'replicas' : t.toCode;

// The transitions of one decision differ only in their blocks, so those in the same state share a row.
function alike(transitions) {
  const groups = new Map();
  for (const t of transitions) {
    const key = [t.kind, t.state, t.toCode, t.reason, t.failure].join('|');
    const group = groups.get(key);
    if (group) group.n++;
    else groups.set(key, {t, n: 1});
  }
  return [...groups.values()];
}

function drawTransitions(answer, cluster) {
  const refused = answer.refusals.map(r => h('li', {class: 'REFUSED'},
      h('span', {class: 'what'}, r.policy), h('span', {class: 'codes'}, 'policy'),
      h('span', {class: 'why'}, r.message, h('em', {}, r.remedy)),
      h('span', {class: 'state'}, h('b', {}, 'refused'))));
  const rows = alike(answer.transitions).slice(0, 40).map(({t, n}) => h('li', {class: t.state},
      h('span', {class: 'what'}, kindName(cluster, t.kind),
          n > 1 ? h('span', {class: 'times'}, ' ×' + n) : null),
      h('span', {class: 'codes'}, t.fromCode && t.fromCode !== targetOf(t)
          ? t.fromCode + ' → ' + targetOf(t) : '→ ' + targetOf(t)),
      h('span', {class: 'why'}, t.reason,
          failureOf(t)),
      h('span', {class: 'state'}, h('b', {}, t.state.toLowerCase().replace('_', ' ')), ago(cluster.timeMillis - t.updatedMillis) + ' ago',
          transitionButton(t, n))));
  const list = $('transitions');
  const scroll = list.scrollTop;
  list.replaceChildren(...refused, ...rows);
  if (!refused.length && !rows.length) list.append(h('li', {class: 'none'}, 'nothing was converted yet'));
  list.scrollTop = scroll;
}

// ---- the loop ---------------------------------------------------------------------------------

async function get(path) {
  const response = await fetch('api/v1/' + path);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error.message + ' → ' + body.error.remedy);
  return body;
}

const since = () => Date.now() - 3600 * 1000 * (Number(new URLSearchParams(location.search).get('hours')) || 24);

// A refresh makes new elements: the button that had the focus gets it again.
function keepFocus(draw) {
  const key = document.activeElement && document.activeElement.dataset.key;
  draw();
  if (key) {
    const again = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (again && again !== document.activeElement) again.focus({preventScroll: true});
  }
}

async function refresh() {
  try {
    const health = await get('health');
    if ($('overview').hidden) {
      keepFocus(() => drawHealth(health));
      return;
    }
    const [cluster, policies, timeline, transitions, jobs] = await Promise.all([get('cluster'),
        get('policies'), get('timeline?points=300&since=' + Math.round(since())),
        get('transitions'), get('jobs')]);
    keepFocus(() => {
      drawHealth(health);
      drawTiles(cluster, jobs, transitions.transitions, health.scrub);
      drawClusterBound(policies);
      drawPolicies(policies, timeline);
      drawStates(cluster);
      drawRisk(cluster);
      drawMoved(cluster);
      drawServers(cluster);
      drawEmptyServers(cluster);
      drawFirstSteps(cluster);
      drawKinds(cluster, transitions.countsByKindAndState);
      drawTransitions(transitions, cluster);
    });
    $('fresh').textContent = new Date(cluster.timeMillis).toLocaleTimeString();
  } catch (error) {
    $('status').className = 'pill ERROR';
    $('status').textContent = error instanceof TypeError ? 'manager unreachable' : 'error';
    $('fresh').textContent = error.message;
  }
}

// A press that lasts over a refresh would be lost with its button.
let pressed = false;
window.addEventListener('pointerdown', () => { pressed = true; });
window.addEventListener('pointerup', () => { pressed = false; });
window.addEventListener('pointercancel', () => { pressed = false; });

async function loop() {
  if (!document.hidden && !pressed && !$('action').open) await refresh();
  setTimeout(loop, REFRESH_MILLIS);
}
initActions();
initPages();
initPreview();
showPage();
loop();

// What an operator orders: a dialog tells in numbers what an action would do, and does it when it is confirmed.
'use strict';

const TOKEN = 'ebbfs-api-token';
const ORDERED_KINDS = ['ENCODE', 'UPCODE', 'DOWNCODE', 'RELEASE'];
const UNDONE_STATES = ['FAILED', 'NO_SPACE', 'NO_DOMAINS'];

// A button that opens the dialog of an action. The key finds the button again after a refresh.
function actionButton(label, action) {
  const key = [action.name, ...Object.values(action.parameters || {})].join(' ');
  const button = h('button', {type: 'button', class: 'act', 'data-key': key,
      'aria-label': action.title, 'aria-haspopup': 'dialog'}, label);
  button.addEventListener('click', () => openAction(action));
  return button;
}

const pauseButton = paused => paused
    ? actionButton('Resume', {name: 'resume', title: 'Resume proposing', confirm: 'Resume proposing'})
    : actionButton('Pause', {name: 'pause', title: 'Pause proposing', confirm: 'Pause proposing'});

const boundButton = policy => actionButton('Change bound', {name: 'bound',
    title: 'Change the bound of policy ' + policy.name, confirm: 'Change the bound', parameters: {policy: policy.name},
    field: {name: 'bound', label: 'Stored bytes per byte of encoded data', value: policy.storageBound || 1.5}});

const clusterBoundButton = bound => actionButton('Change bound', {name: 'clusterbound',
    title: 'Change the bound of the cluster', confirm: 'Change the bound',
    field: {name: 'bound', label: 'Stored bytes per byte of encoded data', value: bound || 1.5}});

const scrubButton = () => actionButton('Start now',
    {name: 'scrub', title: 'Start a parity scrub', confirm: 'Start the scrub'});

// The dialog tells how many disks differ from the mean, and how many bytes would move.
const levelButtons = () => [
  actionButton('Level disks', {name: 'rebalance', title: 'Level the disks', confirm: 'Level the disks',
      field: {name: 'threshold', label: 'How far from the mean a disk may be', choices: [
        ['0.1', '10 %'], ['0.05', '5 %'], ['0.02', '2 %']]}}),
  actionButton('Stop levelling', {name: 'stoprebalance', title: 'Stop levelling the disks', confirm: 'Stop levelling'})];

const drainButton = server => server.drain
    ? actionButton('Take back', {name: 'undrain', title: 'Take server ' + server.name + ' back',
        confirm: 'Take the server back', parameters: {server: server.uuid}})
    : actionButton('Drain', {name: 'drain', title: 'Drain server ' + server.name, confirm: 'Drain the server',
        parameters: {server: server.uuid}});

const hibernateButton = server => server.hibernation
    ? actionButton('Wake', {name: 'wake', title: 'Wake server ' + server.name, confirm: 'Wake the server',
        parameters: {server: server.uuid}})
    : actionButton('Hibernate', {name: 'hibernate', title: 'Let server ' + server.name + ' hibernate',
        confirm: 'Let the server hibernate', parameters: {server: server.uuid},
        field: {name: 'for', label: 'How long', choices: [
          ['1h', '1 hour'], ['2h', '2 hours'], ['8h', '8 hours'], ['1d', '1 day'], ['7d', '7 days']]}});

const pinButton = path => actionButton('Pin', {name: 'pin', title: 'Pin ' + path, confirm: 'Set the pin',
    parameters: {path}, field: {name: 'to', label: 'Pin to', choices: [
      ['fast', 'fast code: quick reads of lost blocks'], ['compact', 'compact code: the least space'],
      ['replicas', 'replicas: not encoded'], ['none', 'no pin: reads decide']]}});

// Decides nothing before it is confirmed: the dry run shows what the policies would decide now.
const dryRunButton = () => actionButton('Dry run', {name: 'evaluate', path: 'policies/evaluate',
    title: 'What the policies would decide now', confirm: 'Decide this now', summary: decisionLines});

const MOST_DECISIONS = 12;

function decisionLines(answer) {
  const decisions = answer.decisions;
  const data = decisions.reduce((sum, decision) => sum + decision.dataBytes, 0);
  const lines = decisions.slice(0, MOST_DECISIONS).map(decision => decision.kind.toLowerCase() + ' → ' + decision.toCode
      + ' by policy ' + decision.policy + ': ' + bytes(decision.dataBytes) + '. ' + decision.reason);
  const more = decisions.length - lines.length;
  return [decisions.length ? count(decisions.length) + (decisions.length === 1 ? ' decision' : ' decisions') + ' about ' + bytes(data) + '.'
      : 'Nothing is to be encoded or converted now.', ...lines, ...(more > 0 ? ['And ' + count(more) + ' more.'] : []),
      ...answer.refusals.map(refusal => 'Policy ' + refusal.policy + ': ' + refusal.message + ' → ' + refusal.remedy)];
}

const convertButtons = path => ['fast', 'compact', 'replicas'].map(to => actionButton('Convert to ' + to, {name: 'convert',
    title: 'Convert ' + path + ' to ' + to, confirm: 'Convert to ' + to, parameters: {path, to}}));

// The button of a transition that can be cancelled or tried again; null for any other. A row may stand for n alike.
function transitionButton(t, n = 1) {
  if (!ORDERED_KINDS.includes(t.kind)) return null;
  if (t.state === 'PLANNED' || t.state === 'RUNNING') {
    return actionButton(n > 1 ? 'Cancel one' : 'Cancel', {name: 'cancel', title: 'Cancel transition ' + t.id,
        confirm: 'Cancel the transition', parameters: {id: t.id}});
  }
  return UNDONE_STATES.includes(t.state) ? actionButton(n > 1 ? 'Retry one' : 'Retry', {name: 'retry',
      title: 'Retry transition ' + t.id, confirm: 'Retry the transition', parameters: {id: t.id}}) : null;
}

// ---- the dialog -------------------------------------------------------------------------------

// The action of the open dialog; null while the dialog is closed. An answer that comes later belongs to no dialog.
let current = null;

function openAction(action) {
  current = {...action, parameters: {...action.parameters}, step: 'ask'};
  $('action-title').textContent = action.title;
  showField(action.field);
  showStep('ask', []);
  $('action-go').disabled = false;
  $('action').showModal();
  if (!action.field && sessionStorage.getItem(TOKEN)) forward();
}

// A field is a number or a choice.
function showField(field) {
  $('action-field').hidden = !field || !!field.choices;
  $('action-choice').hidden = !field || !field.choices;
  if (!field) return;
  if (field.choices) {
    $('action-choice-label').textContent = field.label;
    $('action-choices').replaceChildren(...field.choices.map(([value, text]) => h('option', {value}, text)));
  } else {
    $('action-field-label').textContent = field.label;
    $('action-value').value = field.value;
  }
}

// The steps: 'ask' for value and token, 'confirm' what the dry run tells, 'done'.
function showStep(step, lines, error) {
  current.step = step;
  $('action-ask').hidden = step !== 'ask';
  $('action-token-row').hidden = !!sessionStorage.getItem(TOKEN);
  $('action-summary').replaceChildren(...lines.map(line => h('li', {}, line)));
  $('action-error').textContent = error || '';
  $('action-go').hidden = step === 'done';
  $('action-go').textContent = step === 'confirm' ? current.confirm : 'Show what it does';
  $('action-close').textContent = step === 'done' ? 'Close' : 'Cancel';
  if (step === 'done') $('action-close').focus();
}

// Keeps the API token that was typed, as long as the tab is open. Returns whether there is a token.
function takeToken(input) {
  const typed = input.value.trim();
  if (!sessionStorage.getItem(TOKEN) && typed) {
    sessionStorage.setItem(TOKEN, typed);
    input.value = '';
  }
  return !!sessionStorage.getItem(TOKEN);
}

async function forward() {
  const action = current;
  const step = action.step;
  if (!takeToken($('action-token'))) return showStep('ask', [], 'Enter the API token first.');
  if (action.field && step === 'ask') {
    action.parameters[action.field.name] = $(action.field.choices ? 'action-choices' : 'action-value').value;
  }
  $('action-go').disabled = true;
  try {
    const answer = await post(action.path || 'actions/' + action.name, {...action.parameters, dryRun: step === 'ask'});
    if (current !== action) {
      if (step !== 'ask') refresh();
      return;
    }
    if (step === 'ask' && answer.decisions && !answer.decisions.length) {
      showStep('done', action.summary(answer)); // there is nothing to confirm
    } else if (step === 'ask') {
      showStep('confirm', action.summary ? action.summary(answer) : answer.summary);
      $('action-go').disabled = false;
      $('action-go').focus();
    } else {
      const made = transitionsOf(answer);
      showStep('done', ['Done.' + (made ? ' ' + count(made) + (made === 1 ? ' transition is' : ' transitions are')
          + ' planned.' : ''), ...refusalsOf(answer).map(refusal => 'The namenode refused: ' + refusal)]);
      refresh();
    }
  } catch (error) {
    if (error.status === 401) sessionStorage.removeItem(TOKEN);
    if (current === action) showStep('ask', [], error.message);
  } finally {
    if (current === action) $('action-go').disabled = false;
  }
}

// An order has its transitions and refusals in one list, an evaluation has them with each decision.
const transitionsOf = answer => answer.decisions
    ? answer.decisions.reduce((sum, decision) => sum + (decision.transitionIds || []).length, 0) : answer.transitionIds.length;
const refusalsOf = answer => answer.decisions
    ? answer.decisions.map(decision => decision.refusal).filter(refusal => refusal) : answer.refusals;

async function post(path, parameters, text) {
  const response = await fetch('api/v1/' + path + '?' + new URLSearchParams(parameters),
      {method: 'POST', headers: {Authorization: 'Bearer ' + sessionStorage.getItem(TOKEN)}, body: text});
  const body = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(body.error.message + ' → ' + body.error.remedy), {status: response.status});
  }
  return body;
}

function initActions() {
  $('action-form').addEventListener('submit', event => {
    event.preventDefault();
    forward();
  });
  $('action-close').addEventListener('click', () => $('action').close());
  // The event comes a moment after the dialog has closed, when another one may be open already.
  $('action').addEventListener('close', () => {
    if (!$('action').open) current = null;
  });
}

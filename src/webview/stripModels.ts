import type { BatchView, ChildAction, View } from '../protocol/view.js';
import type { FromPanel, HostState } from '../protocol/messages.js';
import { gateRank, gateStrip } from './gateStrips.js';
import { grammar, type StripButton, type StripModel } from './stripText.js';
import { t } from './texts.js';
import { clock, epoch, type Reader } from './times.js';

/** All strips in their order: needs you, check red, closed, near a limit, probing, done. */
export function stripModels(
  view: View,
  host: HostState | null,
  now: number,
  reader: Reader,
): readonly StripModel[] {
  const gates = view.gates
    .filter((gate) => gate.display !== 'open')
    .map((gate) => ({ rank: gateRank(gate), strip: gateStrip(gate, now, reader) }));
  const batches = view.batches.flatMap((batch) => [
    ...checkStrip(batch, now, reader).map((strip) => ({ rank: 2, strip })),
    ...doneStrip(batch).map((strip) => ({ rank: 6, strip })),
  ]);
  const sorted = [...gates, ...batches].sort((a, b) => a.rank - b.rank).map(({ strip }) => strip);
  return [...hostStrips(view, host), ...sorted];
}

function checkStrip(batch: BatchView, now: number, reader: Reader): readonly StripModel[] {
  const check = batch.check;
  if (!check || check.state !== 'red' || check.stale) return [];
  const guilty = check.errorsByChild.filter((child) => child.errors > 0);
  const only = guilty.length === 1 ? guilty[0] : undefined;
  const inChildren = guilty.reduce((sum, child) => sum + child.errors, 0);
  const words =
    guilty.length === 0
      ? grammar('check.redTree', [batch.name, check.errors], now)
      : only
        ? grammar('check.red', [batch.name, check.errors, check.errorsInTree, only.errors, only.title], now)
        : grammar(
            'check.redMany',
            [batch.name, check.errors, check.errorsInTree, inChildren, guilty.length],
            now,
          );
  const at = epoch(check.at);
  const targets = guilty.map((child) => ({ batch: batch.id, child: child.id }));
  const able = (action: ChildAction) =>
    targets.length > 0 &&
    guilty.every((g) => batch.children.find((child) => child.id === g.id)?.actions.includes(action));
  const button = (action: ChildAction, primary: boolean, tip: string): readonly StripButton[] =>
    able(action)
      ? [{ label: t(`action.${action}`), primary, tip, message: { type: 'child', action, targets } }]
      : [];
  return [
    {
      id: `check:${batch.id}`,
      tone: 'bad',
      icon: 'red',
      ...words,
      tip: t('check.tip', check.command, check.tree, at === null ? '' : clock(at, reader)),
      buttons: [...button('giveBack', true, t('button.giveBack.tip')), ...button('showErrors', false, '')],
    },
  ];
}

function doneStrip(batch: BatchView): readonly StripModel[] {
  if (batch.status !== 'succeeded' && batch.status !== 'failed') return [];
  const count = (...displays: readonly string[]) =>
    batch.children.filter((child) => displays.includes(child.display)).length;
  const ready = count('done');
  const out = count('conflict', 'checkRed');
  if (ready + out === 0) return [];
  const message = (action: 'applyAll' | 'reviewAll'): FromPanel => ({
    type: 'batch',
    action,
    batch: batch.id,
  });
  const can = (action: 'applyAll' | 'reviewAll') => batch.actions.includes(action);
  const applied = count('applied');
  return [
    {
      id: `done:${batch.id}`,
      tone: 'ok',
      icon: 'done',
      ...grammar(
        'apply.summary',
        [batch.name, ready, applied === 0 ? null : applied, out === 0 ? null : out],
        0,
      ),
      tip: t('apply.all.tip', ready),
      buttons: [
        ...(can('applyAll') && ready > 0
          ? [
              {
                label: t('batch.applyAll'),
                primary: true,
                tip: t('button.applyAll.tip', ready),
                message: message('applyAll'),
              },
            ]
          : []),
        ...(can('reviewAll')
          ? [{ label: t('batch.reviewAll'), primary: false, tip: '', message: message('reviewAll') }]
          : []),
      ],
    },
  ];
}

function hostStrips(view: View, host: HostState | null): readonly StripModel[] {
  const strips: StripModel[] = [];
  if (host?.supervisor === 'gone') {
    const alive = view.batches.flatMap((b) => b.children).filter((c) => c.status === 'running').length;
    strips.push({
      id: 'host:gone',
      tone: 'run',
      icon: 'busy',
      ...grammar('error.lost', [alive], 0),
      tip: t('error.lost.tip'),
      buttons: [],
    });
  }
  if (host?.supervisor === 'viewer')
    strips.push({
      id: 'host:viewer',
      tone: 'idle',
      icon: 'held',
      ...grammar('error.viewer', [], 0),
      tip: '',
      buttons: [],
    });
  if (host?.supervisor === 'readOnly')
    strips.push({
      id: 'host:readOnly',
      tone: 'need',
      icon: 'needs',
      ...(host.writtenBy === null
        ? grammar('error.newerPlain', [], 0)
        : grammar('error.newer', [host.writtenBy], 0)),
      tip: '',
      buttons: [
        {
          label: t('error.newer.button'),
          primary: true,
          tip: '',
          message: { type: 'command', command: 'checkForUpdate' },
        },
      ],
    });
  view.problems.forEach((problem, i) =>
    strips.push({
      id: `problem:${i}:${problem.path}`,
      tone: 'need',
      icon: 'needs',
      ...grammar('error.problem', [problem.path, problem.message], 0),
      tip: '',
      buttons: [
        {
          label: t('error.problem.button'),
          primary: false,
          tip: '',
          message: { type: 'command', command: 'showProblem' },
        },
      ],
    }),
  );
  return strips;
}

/** The strip that says that no agent is installed. */
export function noAgentStrip(looked: readonly string[]): StripModel {
  return {
    id: 'host:noAgent',
    tone: 'need',
    icon: 'needs',
    ...grammar('empty.noAgent', [], 0),
    plainWord: true,
    tip: t('empty.noAgent.tip', looked.join(', ')),
    buttons: [
      {
        label: t('empty.noAgent.doctor'),
        primary: true,
        tip: t('empty.noAgent.doctor.tip'),
        message: { type: 'command', command: 'doctor' },
      },
    ],
  };
}

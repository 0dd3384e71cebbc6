export type { BatchView, ChildView, GateView, View } from '../../protocol/view.js';
export type { ResetSource as ResetSourceView } from '../../protocol/verdict.js';

export {
  startProvider,
  type Fault,
  type Provider,
  type ProviderOptions,
  type ProviderRequest,
} from './provider.js';
export { codingTask, type Task } from './script.js';
export type { Step } from './wire.js';

import { connectHost } from './host.js';
import { SwarmPanel } from './panel.js';
import { useBundle } from './texts.js';
import { defineToolkit } from './toolkit.js';
import './panel.css';

const bundle = document.querySelector('swarm-panel')?.getAttribute('data-bundle');
if (bundle) useBundle(JSON.parse(bundle) as Record<string, string>);
defineToolkit();
SwarmPanel.line = connectHost();
customElements.define('swarm-panel', SwarmPanel);

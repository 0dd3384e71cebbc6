import type { PanelPage } from './harness.js';

/**
 * Draws the panel as text: strips with their buttons, then the lines of the tree as a person sees them. `>` marks
 * the selected row, `*` the tab stop, `-` and `+` the twistie, `[icon]` the status icon's colour role.
 */
export async function drawnAsText(panel: PanelPage): Promise<string> {
  return panel.page.evaluate<string>(`(() => {
    const seen = (el) => el && el.getClientRects().length > 0 && getComputedStyle(el).visibility !== 'hidden';
    const text = (el) => {
      if (!el || !seen(el)) return '';
      let out = '';
      for (const node of el.childNodes) {
        if (node.nodeType === 3) out += node.textContent;
        else if (node.nodeType === 1 && seen(node) && !node.matches('.sr, svg, .acts')) out += ' ' + text(node);
      }
      return out.replace(/\\s+/g, ' ').trim();
    };
    const tone = (el) => [...(el?.querySelector('svg.ic')?.classList ?? [])].find((c) => c.startsWith('c-'))?.slice(2) ?? '';
    const lines = [];
    for (const strip of document.querySelectorAll('.strip')) {
      const parts = [...strip.querySelectorAll('.seg')].map(text);
      const buttons = [...strip.querySelectorAll('vscode-button')].map((b) =>
        '[' + text(b) + (b.classList.contains('sec') ? '' : '!') + (b.disabled ? ' off' : '') + ']');
      lines.push(['=', parts.join(' · '), ...buttons].join(' '));
    }
    if (document.querySelector('.filter')) lines.push('? ' + (document.querySelector('.filter vscode-text-field').value || 'filter') + ' ' + text(document.querySelector('.filter .n')) + ' | ' + [...document.querySelectorAll('.chip')].map((c) => c.getAttribute('aria-label') + (c.ariaPressed === 'true' ? '*' : '')).join(', '));
    for (const row of document.querySelectorAll('.tree > .row[data-key], .tree > .detail, .tree > .facts')) {
      const level = Number(row.getAttribute('aria-level'));
      const pad = '  '.repeat(level - 1);
      if (!row.matches('.row')) {
        const kind = row.matches('.note') ? '"' : row.matches('.call') ? '!' : '…';
        const buttons = [...row.querySelectorAll('vscode-button')].map((b) => '[' + text(b) + ']');
        const said = row.matches('.facts') ? [...row.querySelectorAll('h2, .lastline')].map(text).join(' / ') : text(row.querySelector('.dcell > :first-child:not(.codicon), .dcell > span:last-child'));
        lines.push([pad + kind, said, ...buttons].join(' '));
        continue;
      }
      const open = row.getAttribute('aria-expanded') === 'true' ? '-' : row.hasAttribute('aria-expanded') ? '+' : ' ';
      const marks = (row.tabIndex === 0 ? '*' : '') + (row.getAttribute('aria-selected') === 'true' ? '>' : '');
      const cells = [...row.querySelectorAll(':scope > .cell:not(.task)')].map(text).filter(Boolean);
      const kept = [...row.querySelectorAll('.act.keep')].filter(seen).map((b) => '[' + b.ariaLabel + ']');
      const role = row.matches('.batch') ? '' : '[' + tone(row.querySelector('.task')) + '] ';
      lines.push([pad + open + marks + ' ' + role + text(row.querySelector('.task')), ...cells, ...kept].join(' | '));
    }
    return lines.join('\\n');
  })()`);
}

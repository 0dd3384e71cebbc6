/** What the page of the panel needs to know of its surroundings. All addresses as the webview sees them. */
export interface PanelPage {
  readonly cspSource: string;
  readonly nonce: string;
  readonly scriptUri: string;
  readonly styleUri: string;
  readonly codiconUri: string;
  /** BCP 47, for `lang`. */
  readonly locale: string;
  /** English text -> translation, as `vscode.l10n.bundle` has it. */
  readonly bundle?: Readonly<Record<string, string>>;
}

/**
 * The page around the panel: one script by nonce, two style sheets of ours, fonts of ours, nothing else.
 * The component library inserts one style element of its own; it reads the nonce for it from `csp-nonce`.
 */
export function panelHtml(page: PanelPage): string {
  const policy = [
    `default-src 'none'`,
    `style-src ${page.cspSource} 'nonce-${page.nonce}'`,
    `font-src ${page.cspSource}`,
    `script-src 'nonce-${page.nonce}'`,
  ].join('; ');
  const bundle = page.bundle ? ` data-bundle="${escapeAttribute(JSON.stringify(page.bundle))}"` : '';
  return `<!doctype html>
<html lang="${escapeAttribute(page.locale)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">
<meta property="csp-nonce" content="${escapeAttribute(page.nonce)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Swarm</title>
<link rel="stylesheet" href="${escapeAttribute(page.codiconUri)}">
<link rel="stylesheet" href="${escapeAttribute(page.styleUri)}">
</head>
<body>
<swarm-panel${bundle}></swarm-panel>
<script nonce="${escapeAttribute(page.nonce)}" type="module" src="${escapeAttribute(page.scriptUri)}"></script>
</body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

import tseslint from 'typescript-eslint';
import path from 'node:path';

/**
 * Who may import whom. A folder may import itself and what its row names; nothing else of ours, and of the
 * outside only what `packages` names (`*`: anything). This table is the architecture: a breach fails the build.
 */
export const importTable = {
  'src/protocol': { ours: [], packages: ['zod'] },
  'src/supervisor/verdict': { ours: ['src/protocol'], packages: ['temporal-polyfill', 're2js', 'zod'] },
  'src/supervisor/agents': { ours: ['src/protocol', 'src/supervisor/verdict'], packages: ['zod'] },
  'src/supervisor/core': {
    ours: ['src/protocol', 'src/supervisor/verdict', 'src/supervisor/agents'],
    packages: [],
  },
  'src/supervisor/manifest': {
    ours: ['src/protocol', 'src/supervisor/core', 'src/supervisor/agents'],
    packages: ['yaml', 'zod'],
  },
  'src/supervisor/research': {
    ours: ['src/protocol', 'src/supervisor/core', 'src/supervisor/verdict', 'src/supervisor/agents'],
    packages: ['node:crypto', 'zod'],
  },
  'src/supervisor/effects': {
    ours: [
      'src/protocol',
      'src/supervisor/research',
      'src/supervisor/api',
      'src/supervisor/core',
      'src/supervisor/verdict',
      'src/supervisor/agents',
      'src/supervisor/ports',
      'src/supervisor/manifest',
    ],
    packages: ['node:', 'zod'],
  },
  'src/supervisor/node': {
    ours: [
      'src/protocol',
      'src/supervisor/core',
      'src/supervisor/verdict',
      'src/supervisor/agents',
      'src/supervisor/ports',
      'src/supervisor/manifest',
      'src/supervisor/effects',
      'src/supervisor/supervisor',
    ],
    packages: ['node:', 'zod', 'simple-git'],
  },
  'src/supervisor/local': {
    ours: ['src/supervisor/acp', 'src/supervisor/agents', 'src/supervisor/manifest'],
    packages: ['node:', 'yaml', 'zod'],
  },
  'src/supervisor': { ours: ['src/protocol', 'src/supervisor'], packages: ['node:', 'zod'] },
  'src/cli': {
    ours: ['src/protocol', 'src/supervisor'],
    packages: ['node:', 'commander', 'zod', 'yaml', 'log-update', 'string-width', 'cli-truncate'],
  },
  'src/extension': { ours: ['src/protocol', 'src/supervisor'], packages: ['node:', 'vscode', 'zod'] },
  'src/webview': {
    ours: ['src/protocol'],
    packages: ['lit', '@vscode/webview-ui-toolkit', '@vscode/codicons', '@lit-labs/virtualizer'],
  },
};

/** Reports an import that the table does not allow. */
const importsRule = {
  meta: { type: 'problem', schema: [{ type: 'object' }] },
  create(context) {
    const [{ folder, ours, packages }] = context.options;
    const check = (node) => {
      const name = node.source?.value;
      if (typeof name !== 'string') return;
      if (name.startsWith('.')) {
        const target = path
          .relative(context.cwd, path.resolve(path.dirname(context.filename), name))
          .replaceAll(path.sep, '/');
        const inside = (root) => target === root || target.startsWith(root + '/') || target === root + '.js';
        if (!inside(folder) && !ours.some(inside))
          context.report({
            node,
            message: `${folder} may not import ${target} (see the import table in eslint.config.mjs)`,
          });
        return;
      }
      const allowed = packages.some((p) =>
        p.endsWith('**') ? name.startsWith(p.slice(0, -2)) : name === p || name.startsWith(p + '/'),
      );
      if (!allowed)
        context.report({
          node,
          message: `${folder} may not import the package ${name} (see the import table in eslint.config.mjs)`,
        });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};

const swarmPlugin = { rules: { imports: importsRule } };
const folders = Object.keys(importTable);
const importRules = folders.map((folder) => {
  const { ours, packages } = importTable[folder];
  const deeper = folders.filter((other) => other !== folder && other.startsWith(folder + '/'));
  const bare = packages.map((name) => (name.endsWith(':') ? `${name}**` : `${name}`));
  return {
    files: [`${folder}/**/*.ts`],
    ignores: deeper.map((other) => `${other}/**/*.ts`),
    plugins: { swarm: swarmPlugin },
    rules: { 'swarm/imports': ['error', { folder, ours, packages: bare }] },
  };
});

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      'out/**',
      'artifacts/**',
      'test/**/fixtures/**',
      '**/*.mjs',
      '**/*.cjs',
      'vitest.config.ts',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './tsconfig.webview.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['src/cli/**', 'test/**', 'bench/**'], rules: { 'no-console': 'off' } },
  {
    files: ['src/cli/**/*.ts'],
    ignores: ['src/cli/output/clean.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.object.object.name="process"][callee.property.name="write"]',
          message: 'What is printed goes through the screen, or through output/clean.ts on stderr.',
        },
      ],
    },
  },
  ...importRules,
);

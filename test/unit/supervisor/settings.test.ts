import { describe, expect, it } from 'vitest';
import { parseManifest } from '../../../src/supervisor/manifest/manifest.js';
import { parseSettings } from '../../../src/supervisor/settings.js';

function policyOf(settings: Readonly<Record<string, unknown>>, policy: Readonly<Record<string, unknown>>) {
  const text = JSON.stringify({ version: 1, executor: 'claude', policy, tasks: [{ prompt: 'x' }] });
  const parsed = parseManifest({ kind: 'json', text, name: 'm.json' }, parseSettings(settings).settings);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return parsed.plan.policy;
}

describe('the settings for resumes', () => {
  const said = {
    'swarm.resume.consent': { weekly: 'auto', five_hour: 'ask' },
    'swarm.resume.quietHours': '23:00-07:00',
    'swarm.resume.maxTokensPerWake': 200_000,
  };

  it('count where the manifest says nothing', () => {
    expect(policyOf(said, {})).toMatchObject({
      consent: { weekly: 'auto', five_hour: 'ask' },
      quietHours: { from: 1380, to: 420 },
      tokensPerWake: 200_000,
    });
    expect(policyOf({}, {})).toMatchObject({ consent: {}, quietHours: null, tokensPerWake: null });
  });

  it('give way to what the manifest says, key by key', () => {
    const policy = { consent: { five_hour: 'never' }, quietHours: null, tokensPerWake: 5 };
    expect(policyOf(said, policy)).toMatchObject({
      consent: { weekly: 'auto', five_hour: 'never' },
      quietHours: null,
      tokensPerWake: 5,
    });
  });

  it('are named and left out where they are wrong', () => {
    const { settings, problems } = parseSettings({
      'resume.consent': { fortnight: 'auto' },
      'resume.quietHours': '25:00-07:00',
      'resume.maxTokensPerWake': 0,
    });
    expect(settings.resume).toEqual({ consent: {}, quietHours: null, tokensPerWake: null });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'swarm.resume.consent',
      'swarm.resume.quietHours',
      'swarm.resume.maxTokensPerWake',
    ]);
  });
});

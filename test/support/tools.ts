/**
 * Programs that a machine may lack, such as a browser. Their tests are skipped there, with a message; in continuous
 * integration they fail, because nobody would read the message.
 */
export function skipWithout(missing: readonly string[], install: string): boolean {
  if (missing.length === 0) return false;
  const message = `${missing.join(", ")} cannot be found. Install it (${install}).`;
  if (process.env.CI) throw new Error(message);
  console.warn(`SKIPPED: ${message}`);
  return true;
}

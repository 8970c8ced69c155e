/** Versions such as 15.1 and 14.6.1; missing parts are 0. */
export function isOlder(version: string, least: string): boolean {
  const parts = (text: string) => text.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [numbers, other] = [parts(version), parts(least)];
  for (let i = 0; i < Math.max(numbers.length, other.length); i++) {
    const difference = (numbers[i] ?? 0) - (other[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

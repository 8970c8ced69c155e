const numbers = new Intl.NumberFormat("en");

/** "1 host", "1,204 hosts". */
export const counted = (count: number, thing: string, things: string = `${thing}s`): string =>
  `${numbers.format(count)} ${count === 1 ? thing : things}`;

export const formatted = (count: number): string => numbers.format(count);

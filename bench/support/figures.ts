export const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
/** The quantile of the values; `share` is from 0 to 1. */
export const quantile = (values: readonly number[], share: number): number => {
  const order = sorted(values);
  return order[Math.min(order.length - 1, Math.floor(share * order.length))] ?? Number.NaN;
};
export const median = (values: readonly number[]): number => quantile(values, 0.5);

import { expect, it } from "vitest";
import { HostBits } from "../../src/server/hosts/history/host-set.ts";

const sets: number[][] = [
  [],
  [1],
  [7, 8, 31, 32, 33, 63, 64],
  [1_000_000],
  [3, 1_000_000],
  Array.from({ length: 5_000 }, (_, i) => i + 1),
  Array.from({ length: 5_000 }, (_, i) => 90_000 + i * 2),
  Array.from({ length: 300 }, (_, i) => (i * 7_919) % 100_003).sort((a, b) => a - b),
];
const idsOf = (bits: HostBits) => [...bits.ids()];

it("keeps the ids of hosts as text", () => {
  for (const ids of sets) {
    const bits = HostBits.of(ids);
    expect(idsOf(HostBits.decode(bits.encode()))).toEqual(ids);
    expect(bits.size).toBe(ids.length);
    // Equal sets have equal texts, however they came about.
    const grown = new HostBits();
    for (const id of [2_000_000, ...ids.toReversed()]) grown.add(id);
    grown.removeAll(HostBits.of([2_000_000]));
    expect(grown.encode()).toBe(bits.encode());
  }
});

it("joins, subtracts and compares sets", () => {
  for (const a of sets)
    for (const b of sets) {
      const [left, right, inB] = [HostBits.of(a), HostBits.of(b), new Set(b)];
      const union = left.copy();
      union.addAll(right);
      expect(idsOf(union)).toEqual([...new Set([...a, ...b])].sort((x, y) => x - y));
      const rest = left.copy();
      rest.removeAll(right);
      expect(idsOf(rest)).toEqual(a.filter((id) => !inB.has(id)));
      const toggled = left.copy();
      toggled.toggleAll(right);
      toggled.toggleAll(left);
      expect(idsOf(toggled)).toEqual(b);
      expect(left.sizeWithin(right)).toBe(a.filter((id) => inB.has(id)).length);
      expect(idsOf(left)).toEqual(a);
    }
});

it("takes little space for few hosts, and a bit for each id otherwise", () => {
  expect(HostBits.of([99_000, 99_500]).encode().length).toBeLessThan(10);
  const half = HostBits.of(Array.from({ length: 50_000 }, (_, i) => i * 2 + 1));
  expect(half.encode().length).toBeLessThan((100_000 / 8) * 1.4);
});

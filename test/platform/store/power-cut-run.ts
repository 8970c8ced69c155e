// Writers on a disk that loses power repeatedly; after each cut all acknowledged data must exist.

import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { type Store, StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { id, int, table, text } from "../../../src/server/platform/store/table.ts";
import { testCipher } from "../../support/engines.ts";
import { FaultDisk, type FaultOptions, fault, seeded } from "../../support/fault-files.ts";

const slots = table("slots", { id: id(), name: text().unique(), value: int(), filler: text() });
const tables = { slots };
type SlotStore = Store<typeof tables>;

const WRITERS = 5;
const SLOTS_EACH = 3;

/**
 * The possible contents of a slot after a cut: the last acknowledged value, or the one being written (null: no row).
 */
interface Slot {
  acknowledged: number | null;
  maybe: (number | null)[];
}

export type Mutant = Pick<FaultOptions, "ignoreSync" | "ignoreSyncDir" | "lateSync">;

export interface PowerCutResult {
  readonly cuts: number;
  readonly acknowledged: number;
  /** The detected error, if any. */
  readonly wrong: string | null;
}

export async function powerCutRun(seed: number, cuts: number, mutant: Mutant = {}): Promise<PowerCutResult> {
  const random = seeded(seed);
  const disk = new FaultDisk({ random, ...mutant });
  const state = new Map<string, Slot>();
  let acknowledged = 0;
  let highestId = 0;
  let value = 0;

  const open = (): Promise<SlotStore> =>
    openLowdb({ tables, dir: "/data", cipher: testCipher, files: disk.boot(), snapshotBytes: 2_000 });

  /** A change of some slots of one writer, all or nothing. */
  async function change(store: SlotStore, names: readonly string[]): Promise<void> {
    const wanted = new Map(names.map((name) => [name, random() < 0.2 ? null : ++value]));
    for (const [name, next] of wanted) state.get(name)!.maybe.push(next);
    let highest = 0;
    const write = async (into: Pick<SlotStore, "slots">): Promise<void> => {
      for (const [name, next] of wanted) {
        const filler = "x".repeat(Math.floor(random() * 300));
        if (next === null) await into.slots.delete(eq("name", name));
        else {
          const [row] = await into.slots.upsert([{ name, value: next, filler }], { on: ["name"] });
          highest = Math.max(highest, row!.id);
        }
      }
    };
    try {
      await (wanted.size === 1 ? write(store) : store.tx(write));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // Refused: in this process it never happened. Whether it is on the disk is only certain after the next sync.
      for (const name of names) {
        const found = (await store.slots.first({ where: eq("name", name) }))?.value ?? null;
        if (found !== state.get(name)!.acknowledged) throw new Error(`${name} shows ${found}, which was refused`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
      return;
    }
    acknowledged += names.length;
    highestId = Math.max(highestId, highest);
    for (const [name, next] of wanted) Object.assign(state.get(name)!, { acknowledged: next, maybe: [] });
  }

  async function writer(store: SlotStore, number: number): Promise<never> {
    for (;;) {
      const names = Array.from({ length: SLOTS_EACH }, (_, i) => `${number}-${i}`);
      await change(store, random() < 0.3 ? names : [names[Math.floor(random() * SLOTS_EACH)]!]);
    }
  }

  async function verify(store: SlotStore): Promise<string | null> {
    const found = new Map((await store.slots.list()).map((row) => [row.name, row.value]));
    for (const [name, slot] of state) {
      const now = found.get(name) ?? null;
      if (now !== slot.acknowledged && !slot.maybe.includes(now))
        return `${name} was acknowledged as ${slot.acknowledged} and is ${now}`;
      Object.assign(slot, { acknowledged: now, maybe: [] });
    }
    return null;
  }

  for (let i = 0; i < WRITERS; i++)
    for (let j = 0; j < SLOTS_EACH; j++) state.set(`${i}-${j}`, { acknowledged: null, maybe: [] });

  for (let cut = 0; cut <= cuts; cut++) {
    let operations = 0;
    const cutAt = 1 + Math.floor(random() * (random() < 0.3 ? 8 : 120));
    let faultsLeft = random() < 0.1 ? 2 : 0;
    let lost!: () => void;
    const powerLost = new Promise<void>((resolve) => {
      lost = resolve;
    });
    disk.onOperation = (operation) => {
      if (++operations === cutAt && cut < cuts) {
        disk.cutPower();
        disk.onOperation = () => {};
        lost();
      } else if (faultsLeft > 0 && cut < cuts && (operation === "write" || operation === "sync") && random() < 0.05) {
        faultsLeft--;
        throw fault(operation === "write" ? "ENOSPC" : "EIO");
      }
    };
    let wrong: string | null = null;
    const life = (async () => {
      const store = await open();
      wrong = await verify(store);
      if (wrong === null && cut === cuts) {
        const row = await store.slots.insert({ name: "last", value: 0, filler: "" });
        if (row.id <= highestId) wrong = `id ${row.id} was given again`;
      }
      if (wrong !== null || cut === cuts) await store.close();
      else await Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(store, i)));
    })().catch((error: Error) => {
      // An injected fault may affect the opening itself: then the server does not start, and power is cut later.
      if (/injected/.test(error.message) && !(error instanceof StoreUnavailable)) {
        disk.cutPower();
        return;
      }
      wrong = String(error);
    });
    await Promise.race([powerLost, life]);
    if (wrong !== null) return { cuts: cut, acknowledged, wrong };
  }
  return { cuts, acknowledged, wrong: null };
}

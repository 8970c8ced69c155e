// The store apps of teams, as objects of the configuration.
import { fieldNames, pick } from "../../../../../api/plain-fields.ts";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { storeAppFields } from "../../../../../api/software/store-app.ts";
import { labelListsOf } from "../../../../delivery/store-apps/labels.ts";
import type { StoreAppRow } from "../../../../delivery/store-apps/tables.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { groupBy } from "../../../../platform/core/maps.ts";
import { nothing } from "../../../../platform/store/query.ts";
import { inPages, ofTier, ownersOf, type SharedRows } from "../../shared-rows.ts";
import { type Contents, isSame, keyOf, type Thing } from "../../values.ts";
import { digestOf } from "../package/rows.ts";
import { iconContents, iconDigests } from "../title-icons.ts";
import type { StoreAppValue } from "./value.ts";

export const KIND = "store_app";

const plainNames = fieldNames(storeAppFields);

/** Configurations of apps may be large, so few rows are read at once. */
const BATCH_SIZE = 50;

export interface StoreAppEntry {
  readonly row: StoreAppRow;
  readonly value: StoreAppValue;
}

/** One or more rows of an app that is offered on all platforms, or one row of an app on one platform. */
interface StoreAppObject {
  readonly key: string;
  readonly value: StoreAppValue;
  readonly rows: readonly StoreAppRow[];
}

export interface StoreAppRows {
  readonly apps: readonly StoreAppEntry[];
}

export async function readApps(ctx: Context): Promise<StoreAppRows> {
  const { store } = ctx;
  const where = ofTier(ctx, "packages:write", nothing);
  const rows = await inPages(store.storeApps.pages({ where }, BATCH_SIZE));
  const labels = await labelListsOf(
    store,
    rows.map(({ id }) => id),
  );
  const iconOf = await iconDigests(store);
  const namesOf = (list: readonly { name: string }[] | undefined) => (list ?? []).map(({ name }) => name).sort();
  return {
    apps: rows.map((row) => {
      const lists = labels.get(row.id);
      const value: StoreAppValue = {
        ...pick(row, plainNames),
        categories: [...row.categories],
        configuration: digestOf(row.configuration),
        icon: iconOf(row),
        setup_experience: row.install_during_setup,
        auto_update_window_start: row.auto_update_window_start,
        auto_update_window_end: row.auto_update_window_end,
        labels_include_all: namesOf(lists?.labels_include_all),
        labels_include_any: namesOf(lists?.labels_include_any),
        labels_exclude_any: namesOf(lists?.labels_exclude_any),
      };
      return { row, value };
    }),
  };
}

/**
 * Rows that were added together, for all platforms of the app, are one object, unless somebody has changed one of them
 * since.
 */
export function appObjects({ apps }: StoreAppRows, shared: SharedRows): StoreAppObject[] {
  const ownerOf = ownersOf(shared);
  const objects: StoreAppObject[] = [];
  for (const entries of groupBy(apps, ({ row }) => `${row.team_id} ${row.adam_id}`).values()) {
    const [first] = entries;
    const owner = ownerOf(first!.row);
    if (owner === undefined) continue;
    const key = (name: string) => keyOf({ kind: KIND, owner: owner ?? NO_TEAM_NAME, name });
    const isOne = entries.every(({ row, value }) => row.every_platform && isSame(value, first!.value));
    if (isOne) {
      objects.push({ key: key(first!.row.adam_id), value: first!.value, rows: entries.map(({ row }) => row) });
      continue;
    }
    for (const { row, value } of entries)
      objects.push({ key: key(`${row.adam_id}/${row.platform}`), value, rows: [row] });
  }
  return objects;
}

export function* appThings(rows: StoreAppRows, shared: SharedRows): Generator<Thing> {
  for (const { key, value } of appObjects(rows, shared)) {
    const [kind, owner, name] = JSON.parse(key) as [string, string, string];
    yield { kind, owner, name, value };
  }
}

export async function appContents(ctx: Context, { apps }: StoreAppRows): Promise<Contents> {
  const icons = await iconContents(
    ctx,
    apps.map(({ value }) => value.icon),
  );
  const texts = apps.flatMap(({ row }) => (row.configuration === "" ? [] : [Buffer.from(row.configuration)]));
  return new Map([...icons, ...texts.map((text) => [digestOf(text), text] as const)]);
}

import { isDeepStrictEqual } from "node:util";
import type { AppConfig, ConfigSections } from "../../api/app-config.ts";
import { recordActivity } from "../activities/record.ts";
import { channels } from "../core/channels.ts";
import { type ConfigReader, type Context, isPremium, within } from "../core/context.ts";
import type { ServerStore, ServerTx } from "../tables.ts";
import { changed, type SectionValues } from "./change.ts";
import { readSections, writeSection } from "./rows.ts";
import { allSections } from "./sections.ts";
import { viewConfig } from "./view.ts";

/** All sections, from the store. */
export const readConfig = async (store: ServerTx): Promise<ConfigSections> =>
  Object.fromEntries(await readSections(store, allSections)) as ConfigSections;

/** The configuration in memory: read again after any server has changed it, and when messages may have been missed. */
export async function createConfigReader(store: ServerStore): Promise<ConfigReader & { stop(): Promise<void> }> {
  let cached: Promise<ConfigSections> | null = null;
  const drop = () => {
    cached = null;
  };
  const stop = await store.listen(channels.config, drop, drop);
  return {
    current() {
      if (cached) return cached;
      const reading = readConfig(store);
      cached = reading;
      // A failed read is not kept: the next caller tries again.
      reading.catch(() => {
        if (cached === reading) cached = null;
      });
      return reading;
    },
    stop,
  };
}

export const getConfig = async (ctx: Context): Promise<AppConfig> =>
  viewConfig(ctx, await readSections(ctx.store, allSections));

export const modifyConfig = (
  ctx: Context,
  given: Record<string, unknown>,
  query: { force: boolean; dry_run: boolean; overwrite: boolean },
): Promise<AppConfig> =>
  inTurn(ctx, async (inside) => {
    const before = await readSections(inside.store, allSections);
    const after = changed(allSections, before, given, { ...query, premium: isPremium(ctx) });
    if (!query.dry_run) await write(inside, before, after);
    return viewConfig(inside, after);
  });

/** Changes the given fields, by the same rules as PATCH /config. */
export const setConfig = (
  ctx: Context,
  given: { readonly [K in keyof ConfigSections]?: Partial<ConfigSections[K]> },
): Promise<void> =>
  inTurn(ctx, async (inside) => {
    const before = await readSections(inside.store, allSections);
    const options = { force: false, overwrite: false, premium: isPremium(ctx) };
    await write(inside, before, changed(allSections, before, given, options));
  });

/** A change is laid over what was there: no other may come between reading and writing. */
const inTurn = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx((store) => work(within(ctx, store)), { lock: "config" });

async function write(ctx: Context, before: SectionValues, after: SectionValues): Promise<void> {
  for (const section of allSections) {
    const value = after.get(section.name)!;
    if (isDeepStrictEqual(value, before.get(section.name))) continue;
    await writeSection(ctx.store, section, value, ctx.clock.iso());
    await ctx.store.notify(channels.config, section.name);
    if (section.name === "agent_options")
      await recordActivity(ctx, "edited_agent_options", { global: true, team_id: null, team_name: null });
  }
}

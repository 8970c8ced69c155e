import { isDeepStrictEqual } from "node:util";
import type { AppConfig, ConfigSections, Integrations } from "../../api/app-config.ts";
import { recordEntries } from "../activities/record.ts";
import { channels } from "../core/channels.ts";
import { type ConfigReader, type Context, isPremium, licenseExpired, within } from "../core/context.ts";
import { invalidFields } from "../core/errors.ts";
import { eq } from "../store/query.ts";
import type { ServerStore, ServerTx } from "../tables.ts";
import { dropIntegrations } from "../teams/integrations.ts";
import { checkIntegrations } from "../tickets/check.ts";
import { toldOfConfig } from "./activities.ts";
import { betweenSections } from "./between.ts";
import { type ChangeOptions, changed, type SectionValues } from "./change.ts";
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

type Changing = Pick<ChangeOptions, "force" | "overwrite">;

export async function modifyConfig(
  ctx: Context,
  given: Record<string, unknown>,
  query: Changing & { dry_run: boolean },
): Promise<AppConfig> {
  if (!query.dry_run) await askTrackers(ctx, given, query);
  return inTurn(ctx, async (inside) => {
    const before = await readSections(inside.store, allSections);
    const after = sectionsAfter(inside, before, given, query);
    if (query.dry_run) await keepMail(inside, before, after, query);
    else await writeChange(inside, before, after, query);
    return viewConfig(inside, after);
  });
}

/** The sections as a change makes them; 400 and 422 as PATCH /config answers. */
export const sectionsAfter = (
  ctx: Context,
  before: SectionValues,
  given: Record<string, unknown>,
  options: Changing,
): Map<string, object> => changed(allSections, before, given, { ...options, ...tierOf(ctx), between: betweenSections });

/** Writes and tells what differs, in the caller's transaction, which holds the lock "config". Whether anything did. */
export async function writeChange(
  inside: Context,
  before: SectionValues,
  after: SectionValues,
  options: Pick<Changing, "force"> = { force: false },
): Promise<boolean> {
  await keepMail(inside, before, after, options);
  if (!(await write(inside, before, after))) return false;
  await recordEntries(inside, toldOfConfig(allSections, before, after));
  if (after.get("integrations") !== before.get("integrations"))
    await dropIntegrations(inside, after.get("integrations") as Integrations);
  return true;
}

/** Without mail, whoever signs in by a mailed link is locked out: 422 when it is turned off while there are such users, but by force. */
async function keepMail(
  { store }: Context,
  before: SectionValues,
  after: SectionValues,
  { force }: Pick<Changing, "force">,
): Promise<void> {
  const sends = (values: SectionValues) => (values.get("smtp_settings") as ConfigSections["smtp_settings"]).configured;
  if (force || !sends(before) || sends(after)) return;
  const count = await store.users.count(eq("mfa_enabled", true));
  if (count === 0) return;
  const who = count === 1 ? "1 user signs in" : `${count} users sign in`;
  const reason = `${who} with multi-factor authentication, which needs mail: turn that off for them first, or use force`;
  throw invalidFields([{ name: "smtp_settings.enable_smtp", reason }]);
}

/** Over the network, so before the transaction: whether the trackers of a change would take tickets. 422 where not. */
export async function askTrackers(ctx: Context, given: Record<string, unknown>, options: Changing): Promise<void> {
  if (given.integrations === undefined || options.force || !ctx.settings.check_integrations) return;
  const before = await readSections(ctx.store, allSections);
  const after = sectionsAfter(ctx, before, given, options);
  const errors = await checkIntegrations(
    ctx,
    before.get("integrations") as Integrations,
    after.get("integrations") as Integrations,
  );
  if (errors.length > 0) throw invalidFields(errors);
}

/** Sets the given fields by the same rules as PATCH /config; told of by whoever calls this. */
export const setConfig = (
  ctx: Context,
  given: { readonly [K in keyof ConfigSections]?: Partial<ConfigSections[K]> },
): Promise<void> =>
  inTurn(ctx, async (inside) => {
    const before = await readSections(inside.store, allSections);
    const options = { force: false, overwrite: false, ...tierOf(ctx), between: betweenSections };
    await write(inside, before, changed(allSections, before, given, options));
  });

/** With a key that has run out, nothing more of the premium tier can be turned on. */
const tierOf = (ctx: Context): Pick<ChangeOptions, "premium" | "license"> =>
  licenseExpired(ctx)
    ? { premium: false, license: `it expired on ${ctx.license.expiration.slice(0, 10)}` }
    : { premium: isPremium(ctx) };

/** A change is laid over what was there: no other may come between reading and writing. */
const inTurn = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx((store) => work(within(ctx, store)), { lock: "config" });

/** Whether anything was different. */
async function write(ctx: Context, before: SectionValues, after: SectionValues): Promise<boolean> {
  let any = false;
  for (const section of allSections) {
    const value = after.get(section.name)!;
    if (isDeepStrictEqual(value, before.get(section.name))) continue;
    any = true;
    await writeSection(ctx.store, section, value, ctx.clock.iso());
    await ctx.store.notify(channels.config, section.name);
  }
  return any;
}

import { isDeepStrictEqual } from "node:util";
import type { AppConfig, ConfigSections, Integrations } from "../../../api/settings/app-config.ts";
import { isRecord } from "../../../text/record.ts";
import { recordEntries } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type ConfigReader, type Context, isPremium, licenseExpired, within } from "../../platform/core/context.ts";
import { type FieldError, forbiddenFor, invalid, invalidFields } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { blockedFields, blockedServer } from "../../platform/core/outbound/fields.ts";
import type { ServerStore, ServerTx } from "../../platform/core/tables.ts";
import { dropOptOuts } from "../../platform/mail/opt-outs.ts";
import { freezeDeep } from "../../platform/store/freeze.ts";
import { eq } from "../../platform/store/query.ts";
import { versionProblems } from "../apple-versions/offered.ts";
import { checkIntegrations } from "../tickets/check.ts";
import { checkVariables } from "../variables/use.ts";
import { activitiesOfConfig } from "./activities.ts";
import { betweenSections } from "./between.ts";
import { type ChangeOptions, changed, isPartOf, readOnly, type SectionValues } from "./change.ts";
import { metadataProblems } from "./identity-providers.ts";
import { readSection, readSections, writeSection } from "./rows.ts";
import { gitops } from "./sections/organization.ts";
import { under } from "./sections/rules.ts";
import { allSections } from "./sections.ts";
import { viewConfig } from "./view.ts";

/** All sections, read from the store. Frozen, because a section that was never set is the object of its defaults. */
export const readConfig = async (store: ServerTx): Promise<ConfigSections> =>
  freezeDeep(Object.fromEntries(await readSections(store, allSections))) as ConfigSections;

const over = (store: ServerTx): ConfigReader => ({ current: () => readConfig(store), over });

/**
 * The configuration, cached in memory. It is read again after a change by any server, and when notifications may have
 * been missed.
 */
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
      // A failed read is not cached: the next caller tries again.
      reading.catch(() => {
        if (cached === reading) cached = null;
      });
      return reading;
    },
    over,
    stop,
  };
}

export const getConfig = async (ctx: Context): Promise<AppConfig> =>
  viewConfig(ctx, await readSections(ctx.store, allSections));

type Changing = Pick<ChangeOptions, "force" | "overwrite">;

/** Runs in the transaction that changes the integrations, with those that there are now. */
export type IntegrationsChanged = (inside: Context, remaining: Integrations) => Promise<void>;

export async function modifyConfig(
  ctx: Context,
  change: Record<string, unknown>,
  query: Changing & { readonly integrationsChanged: IntegrationsChanged },
): Promise<AppConfig> {
  await askServices(ctx, change, query);
  return inTurn(ctx, async (inside) => {
    await checkReadOnly(inside, change);
    return viewConfig(inside, await changeSections(inside, await withExceptions(inside, change, query), query));
  });
}

/**
 * Exceptions of GitOps mode stay unless they are given, even if all other settings are reset: files cannot have them. 403 if
 * others than global administrators change them.
 */
async function withExceptions(
  { store, user }: Context,
  change: Record<string, unknown>,
  { overwrite }: Changing,
): Promise<Record<string, unknown>> {
  const sent = isRecord(change.gitops) ? change.gitops : {};
  const { exceptions } = await readSection(store, gitops);
  if ((sent.exceptions ?? null) === null)
    return overwrite === true ? { ...change, gitops: { ...sent, exceptions } } : change;
  const isAdmin = user.kind === "service" || (user.kind === "user" && user.global_role === "admin");
  if (!isAdmin && !isPartOf(sent.exceptions, exceptions))
    throw forbiddenFor("only global administrators may change the exceptions of GitOps mode");
  return change;
}

/** 422 for read-only parts with other values than those that are shown. */
async function checkReadOnly(inside: Context, change: Record<string, unknown>): Promise<void> {
  const sent = Object.keys(readOnly).filter((name) => (change[name] ?? undefined) !== undefined);
  if (sent.length === 0) return;
  const shown = (await getConfig(inside)) as Record<string, unknown>;
  const errors = sent
    .filter((name) => !isPartOf(change[name], shown[name]))
    .map((name) => ({ name, reason: `is read-only: ${readOnly[name]}` }));
  if (errors.length > 0) throw invalidFields(errors);
}

async function changeSections(
  inside: Context,
  change: Record<string, unknown>,
  query: Changing & { readonly integrationsChanged?: IntegrationsChanged },
): Promise<SectionValues> {
  const before = await readSections(inside.store, allSections);
  const after = sectionsAfter(inside, before, change, query);
  if (isOtherTeam(before, after)) await checkDefaultTeam(inside, after);
  await writeChange(inside, before, after, query);
  return after;
}

/**
 * Changes settings by the rules of PATCH /config, and in the same transaction what belongs to them. The caller has
 * authorized the change.
 */
export const changeSettings = (
  ctx: Context,
  change: Readonly<Record<string, unknown>>,
  also: (store: ServerTx) => Promise<unknown> = async () => {},
): Promise<void> =>
  inTurn(ctx, async (inside) => {
    await changeSections(inside, change, { force: false, overwrite: false });
    await also(inside.store);
  });

export const setMdmSettings = (ctx: Context, mdm: Readonly<Record<string, unknown>>): Promise<void> =>
  changeSettings(ctx, { mdm });

/** The sections after a change. 400 and 422 like PATCH /config. */
export const sectionsAfter = (
  ctx: Context,
  before: SectionValues,
  change: Record<string, unknown>,
  options: Changing,
): Map<string, object> => changed(allSections, before, change, { ...options, ...rulesOf(ctx) });

const defaultTeam = (values: SectionValues): string =>
  (values.get("mdm") as ConfigSections["mdm"]).windows_automatic_enrollment.default_team;
const isOtherTeam = (before: SectionValues, after: SectionValues) => defaultTeam(before) !== defaultTeam(after);

/** 422 if the team of hosts that enroll with a directory does not exist. */
export async function checkDefaultTeam({ store }: Context, values: SectionValues): Promise<void> {
  const name = defaultTeam(values);
  if (name === "" || (await store.teams.first({ where: eq("name_key", nameKey(name)) })) !== null) return;
  throw invalid("mdm.windows_automatic_enrollment.default_team", `there is no team with the name ${name}`);
}

/**
 * Writes and announces the differences, in the caller's transaction, which must hold the lock "config". Returns
 * whether there were any. Whoever can change integrations passes `integrationsChanged`: teams use them.
 */
export async function writeChange(
  inside: Context,
  before: SectionValues,
  after: SectionValues,
  options: Pick<Changing, "force"> & { readonly integrationsChanged?: IntegrationsChanged } = { force: false },
): Promise<boolean> {
  await checkChange(inside, before, after, options);
  if (!(await write(inside, before, after))) return false;
  await recordEntries(inside, activitiesOfConfig(allSections, before, after));
  if (after.get("integrations") !== before.get("integrations"))
    await options.integrationsChanged?.(inside, after.get("integrations") as Integrations);
  return true;
}

/** Checks the rules that need more than the sections. 422 for a violation. */
async function checkChange(
  ctx: Context,
  before: SectionValues,
  after: SectionValues,
  options: Pick<Changing, "force">,
): Promise<void> {
  const errors: FieldError[] = [];
  for (const { name, outbound } of allSections) {
    const blocked = await blockedFields(ctx.settings, outbound, before.get(name), after.get(name));
    errors.push(...under(name, blocked));
  }
  const [was, is] = [before, after].map((values) => values.get("smtp_settings") as ConfigSections["smtp_settings"]);
  const reason = was!.server === is!.server ? null : await blockedServer(ctx.settings, is!.server);
  if (reason !== null) errors.push({ name: "smtp_settings.server", reason });
  const [mdmBefore, mdmAfter] = [before, after].map((values) => values.get("mdm") as ConfigSections["mdm"]);
  errors.push(...under("mdm", await versionProblems(ctx, mdmBefore!, mdmAfter!)));
  if (errors.length > 0) throw invalidFields(errors);
  const [named, name] = [mdmBefore!.name_template, mdmAfter!.name_template];
  if (name !== named) await checkVariables(ctx.store, name, "mdm.name_template", { use: "host_names", teamId: null });
  await keepMail(ctx, before, after, options);
}

/**
 * Users with multi-factor authentication sign in by mailed links. While there are any, mail can be turned off only
 * with `force` (else 422).
 */
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

/**
 * Checks with the ticket trackers that they accept tickets, and with identity providers that their metadata can be used
 * (422 if not). It uses the network, so it runs before the transaction.
 */
export async function askServices(ctx: Context, change: Record<string, unknown>, options: Changing): Promise<void> {
  const sections = [change.integrations, change.sso_settings, change.mdm];
  if (sections.every((section) => section === undefined) || options.force || !ctx.settings.check_integrations) return;
  const before = await readSections(ctx.store, allSections);
  const after = sectionsAfter(ctx, before, change, options);
  const trackers = [before, after].map((values) => values.get("integrations") as Integrations) as [
    Integrations,
    Integrations,
  ];
  const errors = [...(await checkIntegrations(ctx, ...trackers)), ...(await metadataProblems(ctx, before, after))];
  if (errors.length > 0) throw invalidFields(errors);
}

/** Sets the given fields by the same rules as PATCH /config. The caller records the activity. */
export const setConfig = (
  ctx: Context,
  change: { readonly [K in keyof ConfigSections]?: Partial<ConfigSections[K]> },
): Promise<void> =>
  inTurn(ctx, async (inside) => {
    const before = await readSections(inside.store, allSections);
    const options = { force: false, overwrite: false, ...rulesOf(ctx) };
    await write(inside, before, changed(allSections, before, change, options));
  });

/**
 * Sets fields that the server determines itself and callers cannot change. The caller records the activity, and calls
 * this in a transaction with the lock "config".
 */
export async function setReturned(
  inside: Context,
  change: { readonly [K in "mdm" | "conditional_access"]?: Partial<ConfigSections[K]> },
) {
  const before = await readSections(inside.store, allSections);
  const after = new Map(before);
  for (const [name, fields] of Object.entries(change)) after.set(name, { ...before.get(name), ...fields });
  await write(inside, before, after);
}

/** After the license has expired, no more premium settings can be turned on. */
const tierOf = (ctx: Context): Pick<ChangeOptions, "premium" | "license"> =>
  licenseExpired(ctx)
    ? { premium: false, license: `it expired on ${ctx.license.expiration.slice(0, 10)}` }
    : { premium: isPremium(ctx) };

const rulesOf = (ctx: Context): Pick<ChangeOptions, "premium" | "license" | "between"> => ({
  ...tierOf(ctx),
  between: (change) => betweenSections(change, ctx.settings.server_url ?? ""),
});

/** Serializes changes: each is merged into what it has read, so no other change may be written in between. */
const inTurn = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx((store) => work(within(ctx, store)), { lock: "config" });

/** Writes the sections that differ. Returns whether there were any. */
async function write(ctx: Context, before: SectionValues, after: SectionValues): Promise<boolean> {
  let any = false;
  for (const section of allSections) {
    const value = after.get(section.name)!;
    if (isDeepStrictEqual(value, before.get(section.name))) continue;
    any = true;
    await writeSection(ctx.store, section, value, ctx.clock.iso());
    if (section.name === "webhook_settings")
      await dropOptOuts(
        ctx.store,
        null,
        (value as ConfigSections["webhook_settings"]).failing_policies_mail.recipients,
      );
    await ctx.store.notify(channels.config, section.name);
  }
  return any;
}

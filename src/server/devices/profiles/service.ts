// Lists, creates, changes and deletes profiles.

import type { z } from "zod";
import type { Content } from "../../../api/bodies.ts";
import type { ConfigurationProfile, profilesApi } from "../../../api/devices/profiles.ts";
import type { LabelsInput } from "../../../api/hosts/label-scope.ts";
import { checkProfilesUnused } from "../../checks/policies/profiles.ts";
import { resolveTargets, type TargetLabel } from "../../hosts/labels/targeting.ts";
import { recordEntries } from "../../platform/activities/record.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { invalid, notFound, premiumRequired } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { checkVariables } from "../../settings/variables/use.ts";
import { requireAnyMdm } from "../gate.ts";
import { profileFor, teamFor, teamOf } from "./access.ts";
import { activationsOf, contentsOf } from "./contents.ts";
import { renameOnHosts } from "./host-rows.ts";
import { notifyProfiles } from "./part.ts";
import { type ProfileRow, platformOf } from "./platform.ts";
import { sendAgain, sentRows } from "./resend.ts";
import { activationTaken, identifierTaken, nameTaken, readUpload, type Upload } from "./rules.ts";
import { checkProxies } from "./scep.ts";
import { countsOfProfiles } from "./status.ts";
import { namesIn } from "./variables.ts";
import { profilesOnWire } from "./wire.ts";

/** Serializes changes of profiles, so that a batch sees all of them. */
export const PROFILE_LOCK_OPTIONS = { lock: "configuration-profiles" } as const;

export async function listProfiles(ctx: Context, query: z.output<typeof profilesApi.list.query>) {
  const { team_id } = await teamFor(ctx, "profiles:read", query.team_id);
  await requireAnyMdm(ctx);
  const { rows, meta } = await page(
    ctx.store.configurationProfiles,
    query,
    and(inTeam(team_id ?? 0), eq("is_own", false)),
    {
      defaultOrder: [{ column: "name", direction: "asc" }],
    },
  );
  const profiles = await profilesOnWire(ctx, rows);
  if (!query.populate_host_counts) return { profiles, meta };
  const counts = await countsOfProfiles(
    ctx,
    profiles.map(({ profile_uuid }) => profile_uuid),
  );
  return {
    profiles: profiles.map((profile) => ({ ...profile, host_counts: counts.get(profile.profile_uuid)! })),
    meta,
  };
}

export async function getProfile(ctx: Context, uuid: string): Promise<ConfigurationProfile> {
  const profile = await profileFor(ctx, "profiles:read", uuid);
  await requireAnyMdm(ctx);
  return (await profilesOnWire(ctx, [profile]))[0]!;
}

/** The file as it was uploaded. */
export async function downloadProfile(ctx: Context, uuid: string): Promise<Content> {
  const profile = await profileFor(ctx, "profiles:read", uuid);
  await requireAnyMdm(ctx);
  const day = ctx.clock.iso().slice(0, 10);
  const content = (await contentsOf(ctx.store, [profile.id])).get(profile.id);
  // Deleted at this moment.
  if (content === undefined) throw notFound("configuration profile", uuid);
  return {
    content: new Uint8Array(content),
    type: "application/octet-stream",
    name: `${day} ${platformOf(ctx, profile.platform).fileName(profile)}`,
  };
}

export interface File {
  readonly bytes: Uint8Array;
  /** Without its extension, it is the profile's name where the content has none. */
  readonly name: string;
}

const ENDING = /\.([A-Za-z0-9]{1,12})$/;

/** 422 if the file has the ending of another format. A name without an ending says nothing. */
function checkEnding(name: string, { platform, kind }: Upload): void {
  const [, ending] = ENDING.exec(name) ?? [];
  const [, expected] = ENDING.exec(platform.fileName({ name: "", kind }))!;
  if (ending !== undefined && ending.toLowerCase() !== expected)
    throw invalid(
      "profile",
      `the file is called ${name}, but its content is that of a .${expected} file: rename it, or choose another file`,
    );
}

const withoutExtension = (name: string): string => name.replace(ENDING, "");

interface SentProfile {
  readonly profile: File;
  readonly activation?: File | undefined;
}

export async function createProfile(ctx: Context, teamId: number | undefined, sent: SentProfile, labels: LabelsInput) {
  if (teamId !== undefined && !isPremium(ctx)) throw premiumRequired();
  const team = await teamFor(ctx, "profiles:write", teamId);
  await requireAnyMdm(ctx);
  const { profile: file, activation } = sent;
  const files = { bytes: file.bytes, name: withoutExtension(file.name), activation: activation?.bytes ?? null };
  const upload = await readUpload(ctx, files, "profile");
  checkEnding(file.name, upload);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const resolved = (await resolveTargets(inside, labels, "profile")) ?? [];
    const [row] = await addProfiles(inside, team.team_id, [{ upload, labels: resolved }]);
    await recordEntries(inside, [upload.platform.created(row!, team)]);
    return { profile_uuid: row!.uuid };
  }, PROFILE_LOCK_OPTIONS);
}

/** What replaces a profile has to be one of the same kind with the same identifier. */
export async function updateProfile(ctx: Context, uuid: string, sent: Partial<SentProfile>, labels: LabelsInput) {
  const profile = await profileFor(ctx, "profiles:write", uuid);
  await requireAnyMdm(ctx);
  const upload = await readChange(ctx, profile, sent);
  if (upload !== null) checkSame(profile, upload);
  if (upload !== null && sent.profile !== undefined) checkEnding(sent.profile.name, upload);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const resolved = await resolveTargets(inside, labels, "profile");
    await changeProfiles(inside, [{ profile, upload, labels: resolved }]);
    await recordEntries(inside, [
      platformOf(ctx, profile.platform).edited(profile.kind, await teamOf(inside, profile)),
    ]);
    return { profile_uuid: uuid };
  }, PROFILE_LOCK_OPTIONS);
}

/** What is not sent stays; an empty activation removes the profile's own. Null: nothing is sent. */
async function readChange(
  ctx: Context,
  profile: ProfileRow,
  { profile: file, activation }: Partial<SentProfile>,
): Promise<Upload | null> {
  if (file === undefined && activation === undefined) return null;
  const stored = await ctx.store.profileContents.get(profile.id);
  // Deleted at this moment.
  if (!stored) throw notFound("configuration profile", profile.uuid);
  const bytesOf = (text: string | null) => (text === null ? null : Buffer.from(text, "base64"));
  const bytes = activation === undefined ? bytesOf(stored.activation) : activation.bytes;
  const files = {
    bytes: file?.bytes ?? Buffer.from(stored.content, "base64"),
    // Where the content has no name, that of the profile stays: files may be called anything. Those in JSON have no names.
    name: file?.name && platformOf(ctx, profile.platform).isNamedByFile ? withoutExtension(file.name) : profile.name,
    activation: bytes !== null && bytes.byteLength > 0 ? bytes : null,
  };
  return readUpload(ctx, files, "profile");
}

function checkSame(profile: ProfileRow, { platform, kind, identifier }: Upload): void {
  if (platform.name !== profile.platform || kind !== profile.kind)
    throw invalid("profile", "the file has another format than the profile that it is to replace");
  if (platform.identifiedBy === "content" && identifier !== profile.identifier)
    throw invalid(
      "profile",
      `the identifier of the file is ${JSON.stringify(identifier)}, that of the profile ${JSON.stringify(profile.identifier)}: ` +
        "an update has to keep it. Upload the file as a new profile instead.",
    );
}

export async function deleteProfile(ctx: Context, uuid: string): Promise<Record<string, never>> {
  const profile = await profileFor(ctx, "profiles:write", uuid);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await checkProfilesUnused(store, [profile]);
    await removeProfiles(inside, [profile]);
    await recordEntries(inside, [platformOf(ctx, profile.platform).deleted(profile, await teamOf(inside, profile))]);
  }, PROFILE_LOCK_OPTIONS);
  return {};
}

export interface NewProfile {
  readonly upload: Upload;
  readonly labels: readonly TargetLabel[];
  /** The server's own, for hosts of one platform only. */
  readonly owner?: { readonly hostPlatform: string };
}

/** 409 if the team has another profile with the same name or identifier. */
export async function addProfiles(
  inside: Context,
  teamId: number | null,
  profiles: readonly NewProfile[],
): Promise<ProfileRow[]> {
  const { store, clock, random } = inside;
  const now = clock.iso();
  const times = { created_at: now, updated_at: now, uploaded_at: now };
  for (const { upload } of profiles) {
    await checkFree(store, teamId, upload);
    await checkCustom(store, upload, teamId);
  }
  const rows = await store.configurationProfiles.insertMany(
    profiles.map(({ upload, owner }) => ({
      ...columnsOf(upload),
      is_own: owner !== undefined,
      host_platform: owner?.hostPlatform ?? null,
      uuid: `${upload.letter}${random.uuid()}`,
      team_id: teamId,
      ...times,
    })),
  );
  await store.profileContents.insertMany(profiles.map(({ upload }, i) => ({ id: rows[i]!.id, ...contentOf(upload) })));
  await writeLabels(
    store,
    profiles.map(({ labels }, i) => ({ profile_id: rows[i]!.id, labels })),
  );
  await notifyProfiles(store, { profileIds: rows.map(({ id }) => id) });
  return rows;
}

/** In the transaction, because it may create the variables itself. */
async function checkCustom(store: ServerTx, upload: Upload, teamId: number | null): Promise<void> {
  if (!upload.has_variables) return;
  const text = Buffer.from(upload.bytes).toString("utf8");
  await checkVariables(store, text, upload.field, { use: "profiles", teamId });
  const { name: platform } = upload.platform;
  await checkProxies(store, namesIn(text), { platform, kind: upload.kind }, upload.field);
}

const contentOf = ({ bytes, activation }: Upload) => ({
  content: Buffer.from(bytes).toString("base64"),
  activation: activation === null ? null : Buffer.from(activation).toString("base64"),
});

const columnsOf = ({ platform, kind, name, identifier, checksum, has_variables, activation_identifier }: Upload) => ({
  platform: platform.name,
  kind,
  name,
  identifier,
  checksum,
  has_variables,
  activation_identifier,
});

async function checkFree(store: ServerTx, teamId: number | null, upload: Upload, except = 0): Promise<void> {
  const { name, identifier, platform, activation_identifier: activation } = upload;
  const others = and(inTeam(teamId ?? 0), not(eq("id", except)));
  const taken = (where: Parameters<typeof and>[0]) => store.configurationProfiles.first({ where: and(others, where) });
  const same = and(eq("platform", platform.name), eq("identifier", identifier));
  if ((await taken(same)) !== null) throw identifierTaken(identifier);
  if ((await taken(eq("name", name))) !== null) throw nameTaken(name);
  if (activation !== null && (await taken(eq("activation_identifier", activation))) !== null)
    throw activationTaken(activation);
}

export interface ChangedProfile {
  readonly profile: ProfileRow;
  /** Null: the content stays. */
  readonly upload: Upload | null;
  /** Null: the labels stay. */
  readonly labels: readonly TargetLabel[] | null;
}

/** Only what differs is written. Returns the profiles that have changed. */
export async function changeProfiles(inside: Context, changes: readonly ChangedProfile[]): Promise<ProfileRow[]> {
  const { store, clock } = inside;
  const now = clock.iso();
  const changed: ProfileRow[] = [];
  for (const { profile, upload, labels } of changes) {
    const isNew = upload !== null && upload.checksum !== profile.checksum;
    const isActivatedAnew = upload !== null && (await hasOtherActivation(store, profile, upload));
    const isRenamed = upload !== null && upload.name !== profile.name;
    const isMoved = labels !== null && (await hasOtherLabels(store, profile.id, labels));
    if (!isNew && !isActivatedAnew && !isRenamed && !isMoved) continue;
    if (isActivatedAnew || isRenamed) await checkFree(store, profile.team_id, upload, profile.id);
    const set = {
      ...(upload === null ? {} : columnsOf(upload)),
      updated_at: now,
      ...(isNew || isActivatedAnew ? { uploaded_at: now } : {}),
    };
    try {
      await store.configurationProfiles.update({ where: eq("id", profile.id), set });
    } catch (error) {
      if (error instanceof UniqueViolation) throw nameTaken(upload?.name ?? profile.name);
      throw error;
    }
    // Hosts that have the content already do not get it again.
    if (isRenamed) await renameOnHosts(store, profile.uuid, upload);
    if (isNew) await checkCustom(store, upload, profile.team_id);
    if (isNew || isActivatedAnew)
      await store.profileContents.update({
        where: eq("id", profile.id),
        set: contentOf(upload),
      });
    // Without new content, hosts would keep what they have.
    if (isActivatedAnew && !isNew) await sendAgain(inside, sentRows([profile.uuid]));
    if (isMoved) {
      await store.profileLabels.delete(eq("profile_id", profile.id));
      await writeLabels(store, [{ profile_id: profile.id, labels }]);
    }
    changed.push(profile);
  }
  if (changed.length > 0) await notifyProfiles(store, { profileIds: changed.map(({ id }) => id) });
  return changed;
}

async function hasOtherActivation(store: ServerTx, profile: ProfileRow, upload: Upload): Promise<boolean> {
  const stored = (await activationsOf(store, [profile])).get(profile.id) ?? null;
  return stored !== contentOf(upload).activation;
}

async function hasOtherLabels(store: ServerTx, profileId: number, labels: readonly TargetLabel[]): Promise<boolean> {
  const stored = await store.profileLabels.list({ where: eq("profile_id", profileId) });
  const keys = (list: readonly { label_id: number | null; rule: string }[]) =>
    list
      .map(({ label_id, rule }) => `${rule} ${label_id}`)
      .sort()
      .join();
  return keys(stored) !== keys(labels);
}

async function writeLabels(
  store: ServerTx,
  targets: readonly { readonly profile_id: number; readonly labels: readonly TargetLabel[] }[],
): Promise<void> {
  const rows = targets.flatMap(({ profile_id, labels }) => labels.map((label) => ({ profile_id, ...label })));
  if (rows.length > 0) await store.profileLabels.insertMany(rows);
}

interface ServerProfile {
  readonly identifier: string;
  readonly hostPlatform: string;
}

export const ownProfiles = ({ identifier }: Pick<ServerProfile, "identifier">) =>
  and(eq("is_own", true), eq("identifier", identifier));

/** Each of the teams (null: hosts without one) gets this profile of the server, and no other has it. */
export async function keepOwnProfiles(
  inside: Context,
  server: ServerProfile,
  uploads: ReadonlyMap<number | null, Upload>,
): Promise<void> {
  const existing = await inside.store.configurationProfiles.list({ where: ownProfiles(server) });
  const have = new Set(existing.map(({ team_id }) => team_id));
  const named = await givingWay(inside.store, uploads);
  await removeProfiles(
    inside,
    existing.filter(({ team_id }) => !uploads.has(team_id)),
  );
  await changeProfiles(
    inside,
    existing.flatMap((profile) => {
      const upload = named.get(profile.team_id);
      return upload === undefined ? [] : [{ profile, upload, labels: null }];
    }),
  );
  for (const [team, upload] of named)
    if (!have.has(team)) await addProfiles(inside, team, [{ upload, labels: [], owner: server }]);
}

/** Where users have a profile with the same name, the server's own has its identifier in its name. */
async function givingWay(
  store: ServerTx,
  uploads: ReadonlyMap<number | null, Upload>,
): Promise<ReadonlyMap<number | null, Upload>> {
  const names = [...new Set([...uploads.values()].map(({ name }) => name))];
  const others = await store.configurationProfiles.pick(["team_id", "name"], {
    where: and(oneOf("name", names), eq("is_own", false)),
  });
  const isTaken = (team: number | null, name: string) =>
    others.some((other) => other.team_id === team && other.name === name);
  return new Map(
    [...uploads].map(([team, upload]) => [
      team,
      isTaken(team, upload.name) ? { ...upload, name: `${upload.name} (${upload.identifier})` } : upload,
    ]),
  );
}

/** Hosts remove the profiles afterwards. */
export async function removeProfiles(inside: Context, rows: readonly ProfileRow[]): Promise<void> {
  if (rows.length === 0) return;
  await inside.store.configurationProfiles.delete(
    oneOf(
      "id",
      rows.map(({ id }) => id),
    ),
  );
  await notifyProfiles(inside.store, {});
}

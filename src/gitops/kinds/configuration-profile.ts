// Configuration profiles of device management.

import { basename, extname } from "node:path";
import { PROFILE_MAX } from "../../api/devices/profiles.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { changed, type Fields, fieldsOf } from "../export/fields.ts";
import { FileNames } from "../export/names.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import { escaped } from "../export/text.ts";
import type { PlacedItem } from "../files/collect.ts";
import { textOfBytes } from "../files/item-files.ts";
import { isOfTeam } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { ProfileFile } from "../schema/profiles.ts";
import type { Kind } from "./kind.ts";

type Profile = ProfileFile & {
  readonly name: string;
  readonly sha256: string;
  readonly activation_sha256?: string;
  readonly platform: string;
};

const desired = (profiles: readonly PlacedItem<Profile>[]): Thing[] =>
  profiles.map(({ value, owner }) => ({
    kind: "configuration_profile",
    // Controls of hosts without a team are settings of the organization.
    owner: owner === NO_TEAM_NAME ? null : owner,
    name: value.name,
    value: {
      platform: value.platform,
      sha256: value.sha256,
      activation_sha256: value.activation_sha256 ?? null,
      labels_include_all: value.labels_include_all,
      labels_include_any: value.labels_include_any,
      labels_exclude_any: value.labels_exclude_any,
    },
  }));

/** Only .mobileconfig files contain a name. */
async function nameOf(path: string, content: Buffer, listedName: string | null): Promise<string> {
  if (content.length > PROFILE_MAX) throw new Error(`the profile is larger than ${PROFILE_MAX} bytes`);
  if (extname(path).toLowerCase() !== ".mobileconfig") return listedName ?? basename(path, extname(path));
  const { profileName } = await import("../files/mobileconfig.ts");
  return profileName(content);
}

function exported({ owner, stem, objects, addHostFile, addContent }: ExportScope): ExportedSections {
  const names = new FileNames();
  const lists = new Map<unknown, Fields[]>();
  for (const { name, value } of objects.all(owner, "configuration_profile")) {
    const { sha256, activation_sha256: activation, platform, ...labels } = fieldsOf(value);
    const content = objects.content(String(sha256));
    const text = textOfBytes(content);
    const file = names.of(name);
    const extension = extensionOf(String(platform), text);
    const path = `${stem === "" ? "" : `${stem}.`}profiles/${file}.${extension}`;
    if (text === null) addContent(`lib/${path}`, content);
    else addHostFile(`lib/${path}`, escaped(text));
    const from = owner === null ? "lib" : "../lib";
    const beside = path.replace(/\.json$/, ".activation.json");
    if (typeof activation === "string")
      addHostFile(`lib/${beside}`, escaped(Buffer.from(objects.content(activation)).toString()));
    const item = {
      path: `${from}/${path}`,
      ...(typeof activation === "string" ? { activation: `${from}/${beside}` } : {}),
      ...(extension !== "mobileconfig" && name !== file ? { display_name: name } : {}),
      ...changed(labels, noLabels),
    };
    lists.set(platform, [...(lists.get(platform) ?? []), item]);
  }
  const controls = Object.entries(sections).flatMap(([platform, section]) => {
    const list = lists.get(platform);
    return list ? [[section, { custom_settings: list }] as const] : [];
  });
  return { controls: Object.fromEntries(controls) };
}

/** The section of controls with the profiles of a platform. */
const sections = { darwin: "macos_settings", windows: "windows_settings", android: "android_settings" } as const;

function extensionOf(platform: string, text: string | null): string {
  if (platform === "windows") return "xml";
  return text?.trimStart().startsWith("{") ? "json" : "mobileconfig";
}

const noLabels = { labels_include_all: [], labels_include_any: [], labels_exclude_any: [] };

export const configurationProfile: Kind<Profile> = {
  noun: "configuration profile",
  items: {
    list: "configuration_profiles",
    files: [
      {
        section: "controls",
        keys: [
          ["macos_settings", "vendora_settings"],
          ["custom_settings", "configuration_profiles"],
        ],
        extensions: [".mobileconfig", ".json"],
        adds: { platform: "darwin" },
        beside: { activation: [".json"] },
        nameOf,
      },
      {
        section: "controls",
        keys: [
          ["windows_settings", "windows_settings"],
          ["custom_settings", "configuration_profiles"],
        ],
        extensions: [".xml"],
        adds: { platform: "windows" },
        nameOf,
      },
      {
        section: "controls",
        keys: [
          ["android_settings", "android_settings"],
          ["custom_settings", "configuration_profiles"],
        ],
        extensions: [".json"],
        adds: { platform: "android" },
        nameOf,
      },
    ],
    schema: ProfileFile,
    labelFields: Object.keys(noLabels),
    defaults: noLabels,
    desired,
  },
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported: (scope) => (scope.file === "no_team" ? {} : exported(scope)),
  typesOf: () =>
    ["macos_profile", "declaration_profile", "windows_profile", "android_profile"].flatMap((what) => [
      `created_${what}`,
      `edited_${what}`,
      `deleted_${what}`,
    ]),
  isAbout: (details, type, { name, owner }) =>
    isOfTeam(details, owner) && (type.startsWith("edited_") || details.profile_name === name),
};

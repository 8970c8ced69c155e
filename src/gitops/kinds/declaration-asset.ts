// Asset declarations of Apple devices, to which their declarations refer by identifier.

import { basename } from "node:path";
import { PROFILE_MAX } from "../../api/devices/profiles.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { notJson } from "../../text/json.ts";
import { isRecord } from "../../text/record.ts";
import { thing } from "../desired/values.ts";
import { fieldsOf } from "../export/fields.ts";
import { FileNames, safeName } from "../export/names.ts";
import { escaped } from "../export/text.ts";
import type { PlacedItem } from "../files/collect.ts";
import type { Thing } from "../plan/diff.ts";
import { AssetFile } from "../schema/assets.ts";
import type { Kind } from "./kind.ts";

const KIND = "declaration_asset";

type Asset = AssetFile & { readonly name: string; readonly sha256: string; readonly file_name: string };

const desired = (assets: readonly PlacedItem<Asset>[]): Thing[] =>
  assets.map(({ value: { name, file_name, sha256 }, owner }) =>
    // Controls of hosts without a team are settings of the organization.
    thing(KIND, owner === NO_TEAM_NAME ? null : owner, { file_name, sha256 }, name),
  );

async function nameOf(_path: string, content: Buffer): Promise<string> {
  if (content.length > PROFILE_MAX) throw new Error(`the asset is larger than ${PROFILE_MAX} bytes`);
  const declaration = parsed(content.toString());
  const identifier = isRecord(declaration) ? declaration.Identifier : undefined;
  if (typeof identifier !== "string" || identifier.trim() === "") throw new Error("the declaration has no Identifier");
  return identifier;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(notJson(error));
  }
}

export const declarationAsset: Kind<Asset> = {
  noun: "asset declaration",
  items: {
    list: "assets",
    files: [
      {
        section: "controls",
        keys: [
          ["macos_settings", "vendora_settings"],
          ["assets", "assets"],
        ],
        extensions: [".json"],
        adds: {},
        more: (path) => ({ file_name: basename(path) }),
        nameOf,
      },
    ],
    schema: AssetFile,
    labelFields: [],
    defaults: {},
    desired,
  },
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported({ file, owner, stem, objects, addHostFile }) {
    const names = new FileNames();
    const taken = new Set<string>();
    const assets = (file === "no_team" ? [] : objects.all(owner, KIND)).map(({ name, value }) => {
      const { file_name, sha256 } = fieldsOf(value);
      const preferred = safeName(String(file_name), ".json");
      const fileName = taken.has(preferred) ? `${names.of(name)}.json` : preferred;
      taken.add(fileName);
      const path = `${stem === "" ? "" : `${stem}.`}assets/${fileName}`;
      addHostFile(`lib/${path}`, escaped(Buffer.from(objects.content(String(sha256))).toString()));
      return { path: `${owner === null ? "lib" : "../lib"}/${path}` };
    });
    return assets.length === 0 ? {} : { controls: { macos_settings: { assets } } };
  },
  typesOf: () => [],
  isAbout: () => false,
};

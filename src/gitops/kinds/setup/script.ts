// The script that hosts run at the end of their setup.

import { basename } from "node:path";
import { SCRIPT_MAX } from "../../../api/delivery/scripts.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { fileName } from "../../export/names.ts";
import type { ExportedSections, ExportScope } from "../../export/scope.ts";
import type { PlacedItem } from "../../files/collect.ts";
import { isOfTeam } from "../../plan/activities.ts";
import type { Thing } from "../../plan/diff.ts";
import { ScriptFile } from "../../schema/scripts.ts";
import type { Kind } from "../kind.ts";

const KIND = "setup_script";

type SetupScript = ScriptFile & { readonly name: string; readonly sha256: string };

const desired = (scripts: readonly PlacedItem<SetupScript>[]): Thing[] =>
  scripts.map(({ value: { name, sha256 }, owner }) => ({
    kind: KIND,
    // Controls of hosts without a team are settings of the organization.
    owner: owner === NO_TEAM_NAME ? null : owner,
    name,
    value: { sha256 },
  }));

async function nameOf(path: string, content: Buffer): Promise<string> {
  if (content.length > SCRIPT_MAX) throw new Error(`the script is larger than ${SCRIPT_MAX} bytes`);
  return basename(path);
}

function exported({ owner, stem, objects, addHostFile }: ExportScope): ExportedSections {
  const [script] = objects.all(owner, KIND);
  if (!script) return {};
  const path = `${stem === "" ? "" : `${stem}.`}setup/${fileName(script.name)}`;
  const { sha256 } = script.value as { sha256: string };
  addHostFile(`lib/${path}`, Buffer.from(objects.content(sha256)).toString());
  return { controls: { macos_setup: { script: `${owner === null ? "lib" : "../lib"}/${path}` } } };
}

export const setupScript: Kind<SetupScript> = {
  noun: "setup script",
  items: {
    list: "setup_scripts",
    files: [
      {
        section: "controls",
        keys: [
          ["macos_setup", "setup_experience"],
          ["script", "macos_script"],
        ],
        extensions: [".sh", ".py", ".ps1"],
        isSingle: true,
        isVerbatim: true,
        hasUnixLines: true,
        adds: {},
        nameOf,
      },
    ],
    schema: ScriptFile,
    labelFields: [],
    defaults: {},
    desired,
  },
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported: (scope) => (scope.file === "no_team" ? {} : exported(scope)),
  typesOf: () => ["added_script", "deleted_script"],
  isAbout: (details, _, { name, owner }) => isOfTeam(details, owner) && details.script_name === name,
};

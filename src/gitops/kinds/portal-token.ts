// Teams of the tokens of the business portal.
import type { Run } from "../desired/run.ts";
import { checkTeams, listIn, placeIn, tokensOf } from "../desired/tokens.ts";
import { fieldsOf } from "../export/fields.ts";
import type { PortalToken } from "../schema/tokens.ts";
import type { Kind } from "./kind.ts";

const KIND = "portal_token";
const LIST = "vendora_business_manager";
const OLDER = "vendora_bm_default_team";
const keys = ["vendora_business", LIST];
const none = { macos_team: "", ios_team: "", ipados_team: "", byod_team: "" };
const noun = "token of the business portal";

function tokensIn(run: Run): readonly PortalToken[] {
  const list = listIn<PortalToken>(run, LIST);
  const mdm = run.global?.values.settings?.mdm as { readonly [OLDER]?: string | null } | null | undefined;
  const team = mdm?.[OLDER]?.trim() ?? "";
  if (team === "") return list;
  const at = placeIn(run, [OLDER], []);
  const present = run.current.namesOf(KIND);
  if (list.length > 0) run.problems.error(at, `${OLDER} cannot be given together with vendora_business`);
  else if (present.length !== 1)
    run.problems.error(at, `${OLDER} needs a server with exactly one ${noun}: use vendora_business`);
  else {
    run.problems.warn(at, `${OLDER} is an older form of vendora_business`);
    return [{ ...none, organization_name: present[0]!, macos_team: team, ios_team: team, ipados_team: team }];
  }
  return [];
}

export const portalToken: Kind = {
  noun,
  desired(run) {
    const tokens = tokensIn(run);
    for (const [i, { organization_name: _name, ...teams }] of tokens.entries())
      checkTeams(run, Object.values(teams).filter(Boolean), placeIn(run, keys, [String(i)]));
    return tokensOf(run, tokens, { kind: KIND, noun, keys, by: "organization_name", none });
  },
  exported({ file, objects }) {
    const tokens = file === "global" ? objects.all(null, KIND) : [];
    if (tokens.length === 0) return {};
    return {
      settings: { mdm: { [LIST]: tokens.map(({ name, value }) => ({ organization_name: name, ...fieldsOf(value) })) } },
    };
  },
  typesOf: () => ["edited_abm_token_teams"],
  isAbout: ({ org_name }, _, { name }) => org_name === name,
};

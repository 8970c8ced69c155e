// Patch policies: hosts pass if they do not have a maintained app, or have at least the version that their team offers.

import type { PolicyChanges } from "../../../api/checks/policies.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, type Predicate } from "../../platform/store/query.ts";
import { inPlace, type Place, type PolicyRow, placeOf } from "./applies.ts";
import { offeredApp } from "./maintained-apps.ts";
import { type Columns, refused } from "./rules.ts";

type PatchColumns = Pick<
  Columns,
  | "type"
  | "query"
  | "platform"
  | "catalogue_app_id"
  | "software_title_id"
  | "patch_when_closed"
  | "notify_before_patching"
  | "continuous_automations_enabled"
>;

const patchOnly = [
  "svc_maintained_app_slug",
  "install_software",
  "patch_when_closed",
  "notify_before_patching",
] as const satisfies readonly (keyof PolicyChanges)[];

/**
 * The columns that follow from the type of the policy, besides those that the payload sets itself. `before`: the policy
 * that is changed. Runs in the transaction that writes them. 400 for what cannot be combined.
 */
export async function patchColumns(
  inside: Context,
  place: Place,
  input: PolicyChanges,
  before?: PolicyRow,
): Promise<Partial<PatchColumns>> {
  const type = input.type ?? before?.type ?? "dynamic";
  if (type === "patch") return ofApp(inside, place, input, before);
  const wrong = patchOnly.find((field) => input[field]);
  if (wrong) throw refused(`${wrong} is only for policies of the type patch`, wrong);
  return before?.type === "patch"
    ? { catalogue_app_id: null, patch_when_closed: false, notify_before_patching: false }
    : {};
}

async function ofApp(
  { store }: Context,
  place: Place,
  input: PolicyChanges,
  before: PolicyRow | undefined,
): Promise<PatchColumns> {
  if (place.scope === "global") throw refused("only policies of a team can be of the type patch", "type");
  const slugField = "svc_maintained_app_slug";
  const slug = input.svc_maintained_app_slug;
  const named = slug ? { slug } : before?.catalogue_app_id ? { id: before.catalogue_app_id } : null;
  if (!named) throw refused(`${slugField} is required with the type patch`, slugField);
  const app = await offeredApp(store, place.team_id, named);
  if (!app) throw refused(`the catalogue has no maintained app ${JSON.stringify(slug ?? "")}`, slugField);
  if (!app.offer) throw refused(`the team does not offer the maintained app ${app.slug}`, slugField);
  const { title_id, query, pre_install_query } = app.offer;
  const twins = and(inPlace(place), eq("catalogue_app_id", app.id), not(eq("id", before?.id ?? 0)));
  const twin = await store.policies.first({ where: twins });
  if (twin) throw refused(`the policy ${JSON.stringify(twin.name)} of the team patches ${app.slug} already`, slugField);
  if (input.query && input.query !== query && input.query !== before?.query)
    throw refused("query cannot be given with the type patch: it follows from the app", "query");
  if (input.platform && input.platform !== app.platform)
    throw refused(`platform cannot be given with the type patch: that of the app is ${app.platform}`, "platform");
  const titleId = input.software_title_id ?? 0;
  if (titleId > 0 && titleId !== title_id)
    throw refused(
      `a policy of the type patch can only install its app, the software title ${title_id}`,
      "software_title_id",
    );
  const patch_when_closed = input.patch_when_closed ?? before?.patch_when_closed ?? false;
  if (patch_when_closed && input.continuous_automations_enabled === false)
    throw refused(
      "continuous_automations_enabled cannot be false with patch_when_closed, which tries again until the app is closed",
      "continuous_automations_enabled",
    );
  if (patch_when_closed && pre_install_query !== "") throw refused(closesFirst(app.slug), "patch_when_closed");
  const chosen = input.software_title_id === undefined ? before?.software_title_id : input.software_title_id;
  const installs = input.install_software ?? (chosen ?? 0) > 0;
  return {
    type: "patch",
    query,
    platform: app.platform,
    catalogue_app_id: app.id,
    software_title_id: installs ? title_id : null,
    patch_when_closed,
    notify_before_patching: input.notify_before_patching ?? before?.notify_before_patching ?? false,
    continuous_automations_enabled:
      patch_when_closed || (input.continuous_automations_enabled ?? before?.continuous_automations_enabled ?? false),
  };
}

const closesFirst = (slug: string): string =>
  `patch_when_closed cannot be used while the app ${slug} has a pre_install_query: such policies check before the ` +
  "installation that the app is closed";

type OfferedApp = { readonly team_id: number | null; readonly catalogue_app_id: number | null };

/** The patch policies of the app in the team that offers it; there is at most one. */
const patching = ({ team_id, catalogue_app_id }: OfferedApp): Predicate =>
  and(inPlace(placeOf(team_id ?? 0)), eq("catalogue_app_id", catalogue_app_id));

export const patchPolicyOf = async (
  { policies }: Pick<ServerTx, "policies">,
  offered: OfferedApp,
): Promise<PolicyRow | null> =>
  offered.catalogue_app_id === null ? null : policies.first({ where: patching(offered) });

/** 400 if a policy waits for the app to be closed, which takes the place of a query of the user. */
export async function checkPreInstallQuery(
  store: Pick<ServerTx, "policies">,
  offered: OfferedApp,
  query: string,
): Promise<void> {
  if (query === "") return;
  const policy = await patchPolicyOf(store, offered);
  if (policy?.patch_when_closed)
    throw refused(
      `pre_install_query cannot be used while the policy ${JSON.stringify(policy.name)} has patch_when_closed`,
      "pre_install_query",
    );
}

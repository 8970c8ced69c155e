// Asks for the metadata of identity providers when they are set, so that a sign-in does not fail because of it later.
import { isDeepStrictEqual } from "node:util";
import type { ConfigSections } from "../../../api/settings/app-config.ts";
import type { Context } from "../../platform/core/context.ts";
import type { FieldError } from "../../platform/core/errors.ts";
import { fetchMetadata } from "../../platform/saml/fetch-metadata.ts";
import { MetadataProblem, NoRedirectBinding } from "../../platform/saml/metadata.ts";
import type { SectionValues } from "./change.ts";

const sourceOf = ({
  metadata_url,
  issuer_uri,
}: Pick<ConfigSections["sso_settings"], "metadata_url" | "issuer_uri">) => ({
  metadata_url,
  issuer_uri,
});

const sourcesOf = (values: SectionValues) => {
  const users = values.get("sso_settings") as ConfigSections["sso_settings"];
  const { end_user_authentication: endUsers } = values.get("mdm") as ConfigSections["mdm"];
  return {
    "sso_settings.metadata_url": users.enable_sso ? sourceOf(users) : null,
    "mdm.end_user_authentication.metadata_url": sourceOf(endUsers),
  };
};

/**
 * Whether no sign-in could ever use the metadata at the addresses that the change sets. An address at which there is no
 * complete document now is not wrong: the provider may be set up later.
 */
export async function metadataProblems(
  ctx: Context,
  before: SectionValues,
  after: SectionValues,
): Promise<FieldError[]> {
  const were = sourcesOf(before);
  const errors: FieldError[] = [];
  for (const [name, source] of Object.entries(sourcesOf(after))) {
    if (source === null || source.metadata_url === "") continue;
    if (isDeepStrictEqual(source, were[name as keyof typeof were])) continue;
    try {
      await fetchMetadata(ctx, source);
    } catch (error) {
      if (error instanceof NoRedirectBinding) errors.push({ name, reason: error.message });
      else if (!(error instanceof MetadataProblem)) throw error;
    }
  }
  return errors;
}

// Tests the settings of an authority against the authority itself before they are stored.
import { secretFields } from "../../../api/certificates/ca.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { fetchChallenge } from "./challenge-webhook.ts";
import { checkEst } from "./est.ts";
import { checkProfile } from "./hosted-ca.ts";
import { fetchNdesChallenge } from "./ndes.ts";
import { type DesiredAuthority, textIn } from "./rules.ts";
import { fetchCertificates } from "./scep.ts";
import { CaError } from "./upstream.ts";

/** 422 that names the field which the authority's reply, or its absence, shows to be wrong. */
export async function checkLive(
  ctx: Context,
  authority: DesiredAuthority,
  prefix: string = authority.type,
): Promise<void> {
  const { type, settings, secret } = authority;
  const text = (field: string) => textIn(settings, field);
  const secretField = secretFields[type];
  // Requesting a challenge has a side effect: the authority creates and counts a password. A dry run leaves it out.
  const checkChallenge = async (field: string, question: () => Promise<unknown>): Promise<void> => {
    if (ctx.dryRun === null) return check(field, question());
    ctx.dryRun.unchecked(`whether the authority issues challenges for ${field}`);
  };
  const check = async (field: string, question: Promise<unknown>): Promise<void> => {
    try {
      await question;
    } catch (error) {
      if (!(error instanceof CaError)) throw error;
      const named = error.problem === "credentials" ? secretField : error.problem === "profile" ? "profile_id" : field;
      throw invalid(
        `${prefix}.${named}`,
        `Invalid ${named}: ${error.message}. Correct it, or skip this check with skip_check (--skip-check).`,
      );
    }
  };
  switch (type) {
    case "custom_scep_proxy":
      return check("url", fetchCertificates(ctx, text("url")));
    case "directory_scep_proxy":
      await check("url", fetchCertificates(ctx, text("url")));
      return checkChallenge("admin_url", () =>
        fetchNdesChallenge(ctx, { adminUrl: text("admin_url"), username: text("username"), password: secret }),
      );
    case "hosted_scep_ca":
      await check("url", fetchCertificates(ctx, text("url")));
      return checkChallenge("challenge_url", () =>
        fetchChallenge(ctx, {
          scepUrl: text("url"),
          challengeUrl: text("challenge_url"),
          username: text("username"),
          password: secret,
        }),
      );
    case "custom_est_proxy":
    case "hosted_est_ca":
      return check("url", checkEst(ctx, text("url")));
    case "hosted_ca_a":
      return check("url", checkProfile(ctx, { url: text("url"), apiToken: secret, profileId: text("profile_id") }));
  }
}

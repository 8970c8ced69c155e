// What is requested from a certificate authority for one device: a challenge that is good for one certificate, or a key
// with its certificate. It is requested when the device gets the profile, because some authorities keep only a few
// challenges at a time, and for less than an hour.
import { z } from "zod";
import { renewalTime } from "../../../pki/renewal.ts";
import { fetchChallenge } from "../../certificates/ca/challenge-webhook.ts";
import { orderCertificate } from "../../certificates/ca/hosted-ca.ts";
import { fetchNdesChallenge } from "../../certificates/ca/ndes.ts";
import { type CaRow, textIn } from "../../certificates/ca/rules.ts";
import { CaError } from "../../certificates/ca/upstream.ts";
import { fillText, type HostValues, valuesOf } from "../../certificates/ca/variables.ts";
import { isoAt, minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { eq } from "../../platform/store/query.ts";
import { NotMade } from "../commands/made-late.ts";
import { isRequested, variablesOf } from "./authorities.ts";
import { profileAnswered } from "./host-rows.ts";
import { type ChallengedProfile, challengesOf } from "./scep.ts";
import { namesIn, replaceNames } from "./variables.ts";

/** A value cannot be had. The message is shown with the profile: it contains no secret. */
class NotIssued extends Error {}

/** Authorities forget challenges after an hour. */
const LIFETIME = minutes(57);

/** By variable: what the authority has given. */
const IssuedValues = z.record(z.string(), z.string());
type IssuedValues = z.infer<typeof IssuedValues>;

/** The content with these values. Throws `NotIssued` if an authority gives none. Call it outside of transactions. */
async function fillRequested(
  ctx: Context,
  command: { readonly host_id: number; readonly uuid: string },
  content: string,
  escaped: (value: string) => string,
): Promise<string> {
  const names = namesIn(content).filter(isRequested);
  if (names.length === 0) return content;
  const values = new Map<string, string>();
  for (const challenged of await challengesOf(ctx.store, names, command)) {
    if (!variablesOf(challenged.authority.type, challenged.authority.name).some(isRequested)) continue;
    for (const [name, value] of Object.entries(await issuedFor(ctx, challenged))) values.set(name, value);
  }
  return replaceNames(content, (name, whole) => {
    const value = values.get(name);
    return value === undefined ? whole : escaped(value);
  });
}

/**
 * Fills the command of a profile that is being sent. If an authority gives none, the profile fails with the reason, and
 * `NotMade` is thrown.
 */
export async function fillOrFail(
  ctx: Context,
  command: { readonly host_id: number; readonly uuid: string },
  content: string,
  escaped: (value: string) => string,
): Promise<string> {
  try {
    return await fillRequested(ctx, command, content, escaped);
  } catch (error) {
    if (!(error instanceof NotIssued)) throw error;
    const event = { type: "unsendable", detail: error.message } as const;
    await ctx.store.tx((store) => profileAnswered({ ...ctx, store }, command.host_id, command.uuid, event));
    throw new NotMade(error.message);
  }
}

/** A device that gets the same command again gets the same, as long as it is valid. */
async function issuedFor(ctx: Context, { challenge, authority }: ChallengedProfile): Promise<IssuedValues> {
  const { requested, requested_at } = challenge;
  const isContained = authority.type === "hosted_ca_a";
  const isValid = isContained || ctx.clock.now() < Date.parse(requested_at ?? "") + LIFETIME;
  if (requested !== null && isValid) return IssuedValues.parse(JSON.parse(requested));
  const { issued, renew_at } = await request(ctx, authority, challenge.host_id);
  const set = { requested: JSON.stringify(issued), requested_at: ctx.clock.iso(), renew_at };
  await ctx.store.profileChallenges.update({ where: eq("id", challenge.id), set });
  return issued;
}

interface RequestedCertificate {
  readonly issued: IssuedValues;
  readonly renew_at: string | null;
}

async function request(ctx: Context, authority: CaRow, hostId: number): Promise<RequestedCertificate> {
  try {
    return authority.type === "hosted_ca_a"
      ? await order(ctx, authority, hostId)
      : {
          issued: { [variablesOf(authority.type, authority.name)[1]!]: await challengeOf(ctx, authority) },
          renew_at: null,
        };
  } catch (error) {
    if (!(error instanceof CaError)) throw error;
    const subject = authority.type === "hosted_ca_a" ? "certificate" : "challenge";
    throw new NotIssued(
      `The profile was not sent: the certificate authority ${authority.name} gives no ${subject}: ${error.message}. ` +
        "Correct the authority, then send the profile again.",
    );
  }
}

function challengeOf(ctx: Context, { type, settings, secret }: CaRow): Promise<string> {
  const text = (field: string): string => textIn(settings, field);
  const who = { username: text("username"), password: secret };
  return type === "directory_scep_proxy"
    ? fetchNdesChallenge(ctx, { adminUrl: text("admin_url"), ...who })
    : fetchChallenge(ctx, { scepUrl: text("url"), challengeUrl: text("challenge_url"), ...who });
}

async function order(
  ctx: Context,
  { name, type, settings, secret }: CaRow,
  hostId: number,
): Promise<RequestedCertificate> {
  const values = await valuesOf(ctx, hostId);
  if (values === null) throw new NotIssued("The profile was not sent: the host has been deleted.");
  const filled = (field: string): string => filledText(textIn(settings, field), values, name);
  const [principal] = [settings.certificate_user_principal_names ?? []].flat().map(String);
  const { certificate, pkcs12, password } = await orderCertificate(
    ctx,
    { url: textIn(settings, "url"), apiToken: secret, profileId: textIn(settings, "profile_id") },
    {
      commonName: filled("certificate_common_name"),
      seatId: filled("certificate_seat_id"),
      ...(principal === undefined ? {} : { userPrincipalName: filledText(principal, values, name) }),
    },
    ctx.random.token(16),
  );
  const [data, secretOf] = variablesOf(type, name);
  return {
    issued: { [data!]: pkcs12.toString("base64"), [secretOf!]: password },
    renew_at: renewalOf(certificate.parsed),
  };
}

const renewalOf = ({ validFrom, validTo }: { readonly validFrom: string; readonly validTo: string }): string =>
  isoAt(renewalTime(Date.parse(validFrom), Date.parse(validTo)));

function filledText(text: string, values: HostValues, authority: string): string {
  const filled = fillText(text, values);
  if (filled.missing.length > 0)
    throw new NotIssued(
      `The profile was not sent: the host has no value for ${filled.missing.join(", ")}, which the certificate authority ${authority} needs.`,
    );
  return filled.text;
}

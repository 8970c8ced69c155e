// Access tokens of the service account.
import type { Services } from "../../../platform/core/context.ts";
import { type AccessToken, askForToken } from "../../../platform/core/outbound/service-account.ts";
import { part } from "../../../platform/core/running.ts";
import type { ServiceAccount } from "./account.ts";
import { problemOf } from "./problem.ts";

const SCOPE = "https://www.googleapis.com/auth/androidmanagement";

/** The account's token. Every server gets its own. */
const tokens = part("tokens of the service account", () => new Map<string, AccessToken>());

type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;

export async function accessToken(services: Deps, account: ServiceAccount): Promise<string> {
  const { running, clock } = services;
  const cached = running.of(tokens).get(account.email);
  if (cached && cached.until > clock.now()) return cached.text;
  const answer = await askForToken(services, account, { scope: SCOPE });
  if ("refusal" in answer) throw problemOf(answer.refusal, "the token service");
  running.of(tokens).set(account.email, answer.token);
  return answer.token.text;
}

/** After the service has refused it. */
export function forgetToken({ running }: Pick<Services, "running">, account: ServiceAccount): void {
  running.of(tokens).delete(account.email);
}

// What the console in the browser and the server agree on besides the endpoints.
import type { z } from "zod";
import type { UserSettings } from "./accounts/user-settings.ts";
import type { AvailableTeam, User } from "./accounts/users.ts";
import type { ConfigSections } from "./settings/app-config.ts";

/**
 * The request header with which the console proves that one of its pages sends a request: the form token of the
 * browser's session. Pages of other sites cannot know it.
 */
export const CONSOLE_HEADER = "X-Svc-Console";

/** The data of a session, which the page of the console contains. */
export interface ConsoleSession {
  readonly form_token: string;
  readonly user: User;
  readonly available_teams: readonly z.infer<typeof AvailableTeam>[];
  readonly settings: UserSettings | null;
  readonly tier: "free" | "premium";
  readonly version: string;
  readonly gitops: ConfigSections["gitops"];
  readonly organization: { readonly name: string; readonly logo: string };
}

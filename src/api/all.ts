// The table of every endpoint. What is not here does not exist.
import { activitiesApi } from "./activities.ts";
import { appConfigApi } from "./app-config.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import { enrollSecretsApi } from "./enroll-secrets.ts";
import { hostsApi } from "./hosts.ts";
import { sessionsApi } from "./sessions.ts";
import { setupApi } from "./setup.ts";
import { teamsApi } from "./teams.ts";
import { usersApi } from "./users.ts";
import { versionApi } from "./version.ts";

export const groups: Record<string, Record<string, AnyEndpoint>> = {
  activities: activitiesApi,
  "app-config": appConfigApi,
  "enroll-secrets": enrollSecretsApi,
  hosts: hostsApi,
  sessions: sessionsApi,
  setup: setupApi,
  teams: teamsApi,
  users: usersApi,
  version: versionApi,
};

/** Every endpoint with its operation name, e.g. `hosts.list`. */
export const allEndpoints: readonly { name: string; group: string; endpoint: AnyEndpoint }[] = Object.entries(
  groups,
).flatMap(([group, endpoints]) =>
  Object.entries(endpoints).map(([key, endpoint]) => ({ name: `${group}.${key}`, group, endpoint })),
);

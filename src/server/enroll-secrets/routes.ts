import { enrollSecretsApi } from "../../api/enroll-secrets.ts";
import { type Route, route } from "../core/route.ts";
import { setTeamSecrets, teamSecrets } from "../teams/secrets.ts";
import { secretsOf, setGlobalSecrets } from "./service.ts";

export const enrollSecretRoutes: readonly Route[] = [
  route(enrollSecretsApi.getGlobal, async (_, ctx) => ({ spec: { secrets: await secretsOf(ctx, null) } })),
  route(enrollSecretsApi.setGlobal, ({ body }, ctx) => setGlobalSecrets(ctx, body.spec.secrets)),
  route(enrollSecretsApi.getTeam, async ({ params }, ctx) => ({ secrets: await teamSecrets(ctx, params.id) })),
  route(enrollSecretsApi.setTeam, async ({ params, body }, ctx) => ({
    secrets: await setTeamSecrets(ctx, params.id, body.secrets),
  })),
];

import { enrollSecretsApi } from "../../../api/settings/enroll-secrets.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { secretsOf, setGlobalSecrets } from "./service.ts";

export const enrollSecretRoutes: readonly Route[] = [
  route(enrollSecretsApi.getGlobal, async (_, ctx) => ({ spec: { secrets: await secretsOf(ctx, null) } })),
  route(enrollSecretsApi.setGlobal, ({ body }, ctx) => setGlobalSecrets(ctx, body.spec.secrets)),
];

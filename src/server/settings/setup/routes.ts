import { setupApi } from "../../../api/settings/setup.ts";
import { viewUser } from "../../accounts/users/view.ts";
import { invalid } from "../../platform/core/errors.ts";
import { route } from "../../platform/core/http/route.ts";
import { readConfig } from "../app-config/service.ts";
import { checkSetupCaller } from "./caller.ts";
import { createFirstAdmin } from "./service.ts";

export const setupRoutes = [
  route(setupApi.run, async ({ body }, ctx) => {
    checkSetupCaller(ctx, body.setup_token);
    const { admin, org_info: org } = body;
    if (admin.password_confirmation !== undefined && admin.password_confirmation !== admin.password)
      throw invalid("admin.password_confirmation", "does not match the password");
    const { user, token } = await createFirstAdmin(ctx, {
      name: admin.name,
      email: admin.email,
      password: admin.password,
      org_name: org?.org_name,
      org_logo_url: org?.org_logo_url,
      server_url: body.server_url,
    });
    const config = await readConfig(ctx.store);
    return {
      admin: await viewUser(ctx, user),
      org_info: { org_name: config.org_info.org_name, org_logo_url: config.org_info.org_logo_url },
      server_url: config.server_settings.server_url,
      qengine_enroll_secret: null,
      token,
    };
  }),
];

// Apps that open a website, which the vendor makes for the organization.
import type { z } from "zod";
import type { StoredFile } from "../../../../api/bodies.ts";
import { type androidApi, WEB_APP_ICON_LEAST } from "../../../../api/devices/android.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid, upstreamFailed } from "../../../platform/core/errors.ts";
import { partsOf } from "../../../platform/files/service.ts";
import { pngSize } from "../../../software/self-service/png.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError, orUpstreamError } from "../management/problem.ts";
import { requireEnterprise } from "./enterprise.ts";

type WebAppInput = z.output<typeof androidApi.addWebApp.body>;

export async function addWebApp(ctx: Context, { title, url, icon }: WebAppInput): Promise<{ app_store_id: string }> {
  const startUrl = addressOf(url);
  const icons = icon === undefined ? [] : [{ imageData: await imageOf(ctx, icon) }];
  const enterprise = await requireEnterprise(ctx);
  const name = await orUpstreamError(() =>
    androidClient(ctx)
      .createWebApp(enterprise.name, { title: title.trim(), startUrl, displayMode: "MINIMAL_UI", icons })
      .catch((error: unknown) => {
        // What the vendor does not accept is in the request.
        throw error instanceof AndroidError && error.problem === "refused" ? invalid("url", error.message) : error;
      }),
  );
  const [, app_store_id] = /\/webApps\/([\w.]{1,255})$/.exec(name) ?? [];
  if (app_store_id === undefined) throw upstreamFailed("the reply of the Android Management API names no app");
  return { app_store_id };
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalid("url", "must be an http or https URL");
  if (url.username !== "" || url.password !== "") throw invalid("url", "must not contain a user name or password");
  return url.href;
}

async function imageOf(ctx: Context, { id }: StoredFile): Promise<string> {
  const { size, read } = await partsOf(ctx, id);
  const bytes = size === 0 ? Buffer.alloc(0) : await read(0, size);
  const image = pngSize(bytes);
  if (image === null) throw invalid("icon", "must be a PNG image");
  const { width, height } = image;
  if (width !== height) throw invalid("icon", `must be square: it has ${width} x ${height} pixels`);
  if (width < WEB_APP_ICON_LEAST)
    throw invalid("icon", `must have at least ${WEB_APP_ICON_LEAST} pixels on each side, not ${width}`);
  return bytes.toString("base64url");
}

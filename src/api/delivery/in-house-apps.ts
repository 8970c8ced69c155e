// Apps of organizations for iPhones and iPads: what devices fetch that were asked to install one.
import { z } from "zod";
import { Content, Download } from "../bodies.ts";
import { apiPaths, protocolEndpoint } from "../endpoint.ts";
import { IdParam } from "../fields.ts";

const params = z.object({ id: IdParam });
const query = z.object({
  token: z.string().max(255).default("").meta({ description: "of one installation on one device, for an hour" }),
});

export const inHouseAppsApi = {
  manifest: protocolEndpoint({
    method: "GET",
    paths: apiPaths("/software/titles/:id/in_house_app/manifest"),
    summary: "Get the manifest of an in-house app, which names its file.",
    params,
    query,
    produces: "text/xml",
    response: Content,
  }),
  download: protocolEndpoint({
    method: "GET",
    paths: apiPaths("/software/titles/:id/in_house_app"),
    summary: "Download the file of an in-house app.",
    params,
    query,
    produces: "application/octet-stream",
    response: Download,
  }),
};

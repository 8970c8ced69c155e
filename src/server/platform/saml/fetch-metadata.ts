// Fetches an identity provider's metadata.
import { decodeXml } from "../../../xml/decode.ts";
import { XmlProblem } from "../../../xml/xml.ts";
import { seconds } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { fetchOutbound, OutboundError } from "../core/outbound/fetch.ts";
import { type IdentityProvider, METADATA_MAX, MetadataProblem, readMetadata } from "./metadata.ts";

const TIMEOUT = seconds(10);

/** Throws `MetadataProblem` if there is no document, or it cannot be used. */
export async function fetchMetadata(
  services: Pick<Services, "running" | "dryRun">,
  { metadata_url: url, issuer_uri: issuer }: { readonly metadata_url: string; readonly issuer_uri: string },
): Promise<IdentityProvider> {
  try {
    const reply = await fetchOutbound(services, url, {
      headers: { accept: "application/samlmetadata+xml, application/xml, text/xml" },
      timeout: TIMEOUT,
      maxBytes: METADATA_MAX,
    });
    if (reply.status !== 200) throw new MetadataProblem(`metadata_url returned status ${reply.status}`);
    return readMetadata(decodeXml(reply.body), issuer);
  } catch (error) {
    if (error instanceof OutboundError) throw new MetadataProblem(`metadata_url: ${error.message}`);
    if (error instanceof XmlProblem) throw new MetadataProblem(`the metadata cannot be read: ${error.message}`);
    throw error;
  }
}

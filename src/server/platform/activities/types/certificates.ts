// Certificate authorities, templates, and the certificates of device management.
import type { CaType } from "../../../../api/certificates/ca.ts";
import type { HostDetails, TeamDetails } from "./details.ts";

type CaActivities = Record<
  `${"added" | "edited" | "deleted"}_${Exclude<CaType, "directory_scep_proxy">}`,
  { name: string }
> &
  Record<`${"added" | "edited" | "deleted"}_directory_scep_proxy`, Record<string, never>>;

/** Certificate templates; not among the documented types. */
type TemplateDetails = TeamDetails & { certificate_template_id: number; certificate_name: string };

export interface CertificateActivities extends CaActivities {
  created_certificate_template: TemplateDetails;
  edited_certificate_template: TemplateDetails;
  deleted_certificate_template: TemplateDetails;
  installed_certificate: HostDetails & {
    certificate_template_id: number;
    certificate_name: string;
    status: "installed" | "failed_install";
    detail?: string;
  };
  /** The push certificate: device management of Apple devices was turned on, stayed on, or was turned off. */
  added_apns_certificate: { topic: string; not_valid_after: string; serial_number: string };
  renewed_apns_certificate: { topic: string; not_valid_after: string; serial_number: string };
  deleted_apns_certificate: { topic: string; serial_number: string };
  /** A certificate of device management ends within 30 days. */
  certificate_expires: { name: string; not_valid_after: string };
}

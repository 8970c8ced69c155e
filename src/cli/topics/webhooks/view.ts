// Columns of webhook deliveries and destinations.
import { Delivery, Destination } from "../../../api/automations/webhooks.ts";
import type { View } from "../../output/output.ts";

export const deliveryView: View = {
  schema: () => Delivery,
  columns: [
    { key: "id" },
    { key: "created_at", header: "created" },
    { key: "kind" },
    { key: "event" },
    { key: "state" },
    { key: "attempts", header: "tries" },
    { key: "last_status", header: "status" },
    { key: "url" },
    { key: "last_error", header: "error" },
  ],
};

export const destinationView: View = {
  schema: () => Destination,
  columns: [
    { key: "url" },
    { key: "pending" },
    {
      key: "headers",
      text: (headers) => (typeof headers === "object" && headers !== null ? Object.keys(headers).join(", ") : ""),
    },
    { key: "updated_at", header: "changed" },
  ],
};

// What a team offers of a title: a package or an app.

export interface OfferedTitle {
  readonly id: number;
  readonly name: string;
  readonly source: string;
  readonly bundle_identifier?: string | undefined;
  readonly hosts_count: number;
  readonly icon_url: string | null;
}

export interface Offer {
  readonly name: string;
  readonly what: "package" | "app";
  readonly platform: string;
}

export interface OfferDialogProps {
  readonly title: OfferedTitle;
  readonly teamId: number;
  readonly offer: Offer;
  readonly onClose: () => void;
}

// One number of the strip below the header, and how it is known.
export interface Headline {
  label: string;
  number: string;
  unit: string;
  how: string;
  isUnknown?: boolean;
}

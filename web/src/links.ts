/** Addresses of views: what stands after the # of the page. */

export interface ViewProps {
  /** What stands after the question mark of the address. */
  given: URLSearchParams;
}
export const linkTo = (view: string, given: Record<string, string> = {}): string => {
  const said = new URLSearchParams(given).toString();
  return `#/${view}${said && `?${said}`}`;
};


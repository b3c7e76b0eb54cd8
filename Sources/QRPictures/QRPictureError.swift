/// An error that kept a picture from being read.
public enum QRPictureError: Error, Hashable, Sendable {
  /// The file cannot be opened.
  case unreadable(path: String, reason: String)
  /// The libraries of these packages are not installed.
  case missing([String])
  /// The file is not a supported picture; `kind` is its format, if known.
  case noPicture(kind: String?)
  /// The picture has more bytes or more pixels than are accepted.
  case tooLarge
  /// The file begins like a picture but cannot be decoded: it is truncated or damaged.
  case damaged
  /// The picture contains no readable QR code.
  case nothingFound
  /// The reading process ended without a result or did not end.
  case failed
}

extension QRPictureError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "\(path) cannot be read (\(reason)): name a picture of the QR code."
    case .missing(let names):
      "Reading a QR code from a picture takes \(names.joined(separator: " and ")): `sudo apt install "
        + "\(names.joined(separator: " "))`, or paste the code's text into `hpeer pair -`."
    case .noPicture(let kind?): "This is a \(kind) picture, which is not read here: save it as PNG or JPEG."
    case .noPicture(nil): "This is no picture that is read here: take a PNG or a JPEG."
    case .tooLarge: "This picture is too large: cut it down to the QR code, to less than 50 million points."
    case .damaged: "This picture is cut off or damaged: save it again."
    case .nothingFound:
      "No QR code was found in this picture: take a sharper one from nearer, with the whole code and some white around it."
    case .failed: "This picture could not be read within the time that it may take: cut it down to the QR code."
    }
  }
}

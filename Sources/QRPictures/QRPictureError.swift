/// Why a picture was not read.
public enum QRPictureError: Error, Hashable, Sendable {
  /// The file cannot be opened.
  case unreadable(path: String, reason: String)
  /// These libraries are not on this machine.
  case missing([String])
  /// The file is no picture that is read here; `kind` is what it is, where that is known.
  case noPicture(kind: String?)
  /// More bytes, or more points, than are looked at.
  case tooLarge
  /// It begins as a picture and cannot be decoded: cut off or damaged.
  case damaged
  /// No QR code was found in it.
  case nothingFound
  /// What reads it ended without an answer, or did not end.
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

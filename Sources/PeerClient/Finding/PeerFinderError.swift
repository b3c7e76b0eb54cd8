/// A reason why no peer could be selected. Each description is one sentence for a person.
public enum PeerFinderError: Error, Hashable, Sendable {
  /// No peer was announced within these seconds; `others` are the names of other servers that were seen.
  case nobody(seconds: Int, others: [String])
  /// No peer of this name was announced within these seconds; `seen` are the names of those that were.
  case notFound(name: String, seconds: Int, seen: [String])
  /// The app on a phone was not found within these seconds; `advice` says what to do on the phone.
  case appNotFound(name: String, advice: String, seconds: Int)
  /// The app on a phone was not found within these seconds, and the server in its place has another certificate:
  /// another phone, or the app was reinstalled. Nothing was sent to it.
  case anotherPhone(name: String, advice: String, seconds: Int)
  /// No name was given, and several machines could be meant; `paired` says whether they are paired servers.
  case several([String], paired: Bool)
  /// Several machines have the same name; `ids` are the beginnings of the IDs that they claim.
  case sameName(String, ids: [String])
}

extension PeerFinderError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .nobody(let seconds, let others):
      "No machine on this network offers a health record (listened for \(secondsText(seconds)) on every interface)"
        + (others.isEmpty ? "" : "; seen, but not hpeer: \(Self.list(others))")
        + ": start `hpeer serve` on the other machine, or name it with --host NAME:PORT."
    case .notFound(let name, let seconds, let seen):
      "\(name) was not found on this network within \(secondsText(seconds))"
        + (seen.isEmpty ? "" : " (seen: \(Self.list(seen)))")
        + ": check that `hpeer serve` runs there, or, of an app on a phone, that it is open; or name it with --host NAME:PORT."
    case .appNotFound(let name, let advice, let seconds):
      "\(name) was not found on this network within \(secondsText(seconds)): \(advice)."
    case .anotherPhone(let name, let advice, let seconds):
      "\(name) was not found on this network within \(secondsText(seconds)); another phone answers in its place, or the app was "
        + "installed anew, as the certificate is another, so nothing was sent: \(advice); after a new installation run "
        + "`hpeer unpair` for it and pair again."
    case .several(let names, let paired):
      paired
        ? "This machine is paired with several (\(Self.list(names))): name one, or pull from all with --all."
        : "Several machines offer a health record (\(Self.list(names))): name the one you mean."
    case .sameName(let name, let ids):
      "\(ids.count) machines on this network call themselves \(name) (\(Self.list(ids))): "
        + "give the id of the one you mean, as `hpeer discover` shows it there, or its address with --host NAME:PORT."
    }
  }

  /// Joins at most eight names, because anyone can announce a thousand.
  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(8).joined(separator: ", ")
    return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
  }
}

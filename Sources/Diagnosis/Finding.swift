/// A result of a check: a line for people, and a remedy if one is needed.
///
/// Its texts may contain names from outside: escape them before they go to a terminal.
public struct Finding: Hashable, Sendable, Codable {
  /// The severity of a finding, in ascending order.
  public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
    /// Everything is in order.
    case ok
    /// Worth knowing; nothing to fix.
    case note
    /// hpeer works, but worse than it could or not for much longer.
    case warning
    /// A function of hpeer cannot work.
    case blocking
  }

  /// A stable identifier for scripts: the check, a dot and the result, such as `avahi.absent`.
  public let id: String
  /// The severity. It decides the mark before the line and, if ``Severity/blocking``, the exit status.
  public let severity: Severity
  /// The finding in one line.
  public let text: String
  /// The remedy in one line; if possible, a command for this machine.
  public let remedy: String?
  /// The name of the paired machine that was contacted over the network; `nil` if the finding is about this machine.
  public var peer: String?

  /// Creates a finding.
  /// - Parameter remedy: `nil` if there is nothing to do, as for ``Severity/ok``.
  public init(_ severity: Severity, _ id: String, _ text: String, remedy: String? = nil) {
    self.id = id
    self.severity = severity
    self.text = text
    self.remedy = remedy
  }
}

extension [Finding] {
  /// Whether an earlier finding has the same remedy, for each finding. A remedy is shown once.
  public var repeatRemedies: [Bool] {
    var said: Set<String> = []
    return map { finding in finding.remedy.map { !said.insert($0).inserted } ?? false }
  }
}

/// One thing that a check found out: a line for a person, and the remedy where one is called for.
///
/// Its texts may hold names that come from outside: escape them before they go to a terminal.
public struct Finding: Hashable, Sendable, Codable {
  /// How much a finding stands in the way, from nothing to everything.
  public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
    /// As it should be.
    case ok
    /// Good to know; nothing to mend.
    case note
    /// hpeer works, but worse than it could, or not for much longer.
    case warning
    /// Stands in the way: something that hpeer does cannot work.
    case blocking
  }

  /// Stable, for scripts: the check, a dot, what it found, such as `avahi.absent`.
  public let id: String
  /// Decides the mark before the line and, if ``Severity/blocking``, the exit status.
  public let severity: Severity
  /// What is so, in one line.
  public let text: String
  /// What to do about it, in one line: where possible the command for this machine.
  public let remedy: String?
  /// The name of the paired machine that it is about, where it was tried over the network; `nil` for this machine.
  public var peer: String?

  /// - Parameter remedy: `nil` where there is nothing to do, as for ``Severity/ok``.
  public init(_ severity: Severity, _ id: String, _ text: String, remedy: String? = nil) {
    self.id = id
    self.severity = severity
    self.text = text
    self.remedy = remedy
  }
}

extension [Finding] {
  /// For each finding, whether one before it has the same remedy. A person needs it once.
  public var repeatRemedies: [Bool] {
    var said: Set<String> = []
    return map { finding in finding.remedy.map { !said.insert($0).inserted } ?? false }
  }
}

import Foundation
import HealthModel
import PeerProtocol

extension FuzzTarget {
  /// The query of a change request, divided and decoded as the server does it.
  @Sendable static func httpQuery(_ input: [UInt8]) {
    var fields: [Substring: Substring] = [:]
    for field in text(input).split(separator: "&") {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? parts[1] : ""
      fields[parts[0]] = fields[parts[0]] ?? value.removingPercentEncoding.map { $0[...] } ?? value
    }
    _ = fields["since"].map { try? seal.token(in: String($0)) }
    let selection: ChangeSelection
    do throws(ChangeSelectionError) {
      selection = try ChangeSelection(types: fields["types"], limit: fields["limit"])
    } catch {
      require(!error.description.isEmpty, "a sentence for every error")
      return
    }
    require(selection.limit > 0, "a positive limit")
    guard let types = selection.types else { return require(fields["types"] == nil, "a selection is not dropped") }
    let list = types.map(\.rawValue).joined(separator: ",")
    do {
      let again = try ChangeSelection(types: list[...], limit: "\(selection.limit)"[...])
      require(!types.isEmpty && again == selection, "identifiers select the same: \(list)")
    } catch {
      fatalError("broken promise: what was read can be asked for again: \(list): \(error)")
    }
  }
}

import Foundation
import HealthModel
import PeerProtocol

extension FuzzTarget {
  /// Fuzzes the query of a change request, split and decoded as on the server.
  @Sendable static func httpQuery(_ input: [UInt8]) {
    var fields: [Substring: Substring] = [:]
    for field in input.split(separator: UInt8(ascii: "&")) {
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false).map {
        Substring(text(Array($0)))
      }
      let value = parts.count == 2 ? parts[1] : ""
      fields[parts[0]] = fields[parts[0]] ?? value.removingPercentEncoding.map { $0[...] } ?? value
    }
    _ = fields["since"].map { try? seal.token(in: String($0)) }
    let selected: Set<SampleType>?
    do throws(QueryFieldError) {
      selected = try QueryField.types(fields["types"])
      let limit = try QueryField.limit(fields["limit"])
      require(limit > 0, "a positive limit")
      require(try QueryField.limit("\(limit)"[...]) == limit, "a limit can be asked for again: \(limit)")
    } catch {
      require(!error.description.isEmpty, "a sentence for every error")
      return
    }
    guard let types = selected else { return require(fields["types"] == nil, "a selection is not dropped") }
    let list = types.map(\.rawValue).joined(separator: ",")
    require(!types.isEmpty && (try? QueryField.types(list[...])) == types, "identifiers select the same: \(list)")
  }
}

import Foundation

@testable import PeerDiscovery

extension FuzzTarget {
  /// Fuzzes TXT records. The input is a list of strings, each after a byte with its length, as in DNS.
  @Sendable static func txtRecord(_ input: [UInt8]) {
    var strings: [[UInt8]] = []
    var rest = input[...]
    while let length = rest.popFirst() {
      strings.append(Array(rest.prefix(Int(length))))
      rest = rest.dropFirst(Int(length))
    }
    let received = AvahiValues.withList(of: strings) { Array(AvahiValues.strings($0).reversed()) }
    require(received == strings, "Avahi's list holds what was put in")
    let entries = TXTRecord.parse(strings)
    require(entries.count <= TXTRecord.maximumKeys, "no more keys than allowed")
    for (key, value) in entries {
      require(!key.isEmpty && key.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x3D }, "key \(key)")
      require(value.utf8.count <= 255, "value of \(key)")
    }
    if let published = try? TXTRecord.strings(for: entries.map { (key: $0.key, value: $0.value) }) {
      require(TXTRecord.parse(published) == entries, "what is published reads the same: \(entries)")
    }
    let name = InstanceName.repaired(input)
    let label = InstanceName.publishable(name)
    require((1...InstanceName.maximumBytes).contains(label.utf8.count), "a label: '\(label)'")
    require(InstanceName.publishable(label) == label, "publishing '\(label)' again changes nothing")
  }
}

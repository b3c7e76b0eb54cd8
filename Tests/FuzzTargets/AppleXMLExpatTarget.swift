import CExpat
import Foundation

@testable import HealthFormats

extension FuzzTarget {
  /// Compares the XML scanner with expat: for documents that expat accepts, the scanner must report the same elements
  /// and attributes. Constructs that no export has after its root, such as a document type, are excluded.
  @Sendable static func appleXMLAgainstExpat(_ input: [UInt8]) {
    // Expat joins CR LF, and an export has no declarations or instructions in it; 8 digits bound a reference.
    let document = Array("<HealthData>".utf8) + input + Array("</HealthData>".utf8)
    let source = text(input)
    for foreign in ["\r", "<!", "<?", "&#0", "&#x0", "\u{0}"] where source.contains(foreign) { return }
    guard let expected = ExpatEvents.read(document) else { return }
    for chunkSize in [1 << 16, 7] {
      let seen = scannerEvents(of: document, chunkSize: chunkSize)
      require(seen == expected, "expat sees\n\(expected)\nand the scanner\n\(seen)\nin \(text(document))")
    }
  }

  private static func scannerEvents(of document: [UInt8], chunkSize: Int) -> [String] {
    var events: [String] = []
    var scanner = XMLScanner(source: MemorySource(document), chunkSize: chunkSize)
    do {
      guard try scanner.skipProlog(comment: { _ in }) else { return ["no root"] }
      while true {
        switch try scanner.next() {
        case .open:
          let name = string(scanner.name)
          var event = "<\(name)"
          for index in 0..<scanner.attributeCount {
            let attribute = scanner.attribute(index)
            var defects: TextDefects = []
            let value = XMLText.decode(attribute.value, defects: &defects)
            event += ExpatEvents.attribute(string(attribute.name), value)
            if !defects.isEmpty { event += " with defects \(defects.rawValue)" }
          }
          if scanner.valuelessAttributes > 0 { event += " without a value" }
          events.append(event)
          if scanner.isSelfClosing { events.append("</\(name)") }
        case .close: events.append("</\(string(scanner.name))")
        case .malformed: events.append("malformed")
        case .text: continue
        case .end: return scanner.endsInsideTag ? events + ["cut off"] : events
        }
      }
    } catch {
      return events + ["\(error)"]
    }
  }

  private static func string(_ bytes: Bytes) -> String {
    String(decoding: UnsafeBufferPointer(start: bytes.start, count: bytes.count), as: UTF8.self)
  }
}

/// The elements and attributes that expat reports, as text.
private final class ExpatEvents {
  private var events: [String] = []

  /// Parses a document. Returns `nil` if it is not well-formed.
  static func read(_ document: [UInt8]) -> [String]? {
    guard let parser = XML_ParserCreate("UTF-8") else { fatalError("no memory for expat") }
    defer { XML_ParserFree(parser) }
    // Otherwise it takes a salt from the system, and another way through its tables each time.
    XML_SetHashSalt(parser, 1)
    let collector = ExpatEvents()
    XML_SetUserData(parser, Unmanaged.passUnretained(collector).toOpaque())
    XML_SetElementHandler(
      parser,
      { data, name, attributes in
        guard let data, let name, var attributes else { return }
        var event = "<\(String(cString: name))"
        while let name = attributes[0], let value = attributes[1] {
          event += ExpatEvents.attribute(String(cString: name), String(cString: value))
          attributes += 2
        }
        Unmanaged<ExpatEvents>.fromOpaque(data).takeUnretainedValue().events.append(event)
      },
      { data, name in
        guard let data, let name else { return }
        Unmanaged<ExpatEvents>.fromOpaque(data).takeUnretainedValue().events.append("</\(String(cString: name))")
      })
    let status = document.withUnsafeBytes { bytes in
      XML_Parse(parser, bytes.assumingMemoryBound(to: CChar.self).baseAddress, Int32(bytes.count), 1)
    }
    return withExtendedLifetime(collector) { status == XML_STATUS_OK ? collector.events : nil }
  }

  /// Returns an attribute as text, with whitespace as spaces: expat normalizes tabs and line feeds in values (XML 1.0
  /// section 3.3.3), but an import keeps them.
  static func attribute(_ name: String, _ value: String) -> String {
    let value = value.replacing("\n", with: " ").replacing("\t", with: " ").replacing("\r", with: " ")
    return " \(name)='\(value)'"
  }
}

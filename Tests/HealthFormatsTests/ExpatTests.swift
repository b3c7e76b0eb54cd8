import Foundation
import Testing

@testable import HealthFormats

/// Tests that the scanner reports the same as expat for all documents that expat accepts.
@Suite struct ExpatTests {
  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// A script that prints elements in the format of the test below.
  private static let script = """
    import sys, xml.parsers.expat
    out = []
    def start(name, attributes):
        text = "<" + name
        for k, v in zip(attributes[::2], attributes[1::2]):
            text += " %s='%s'" % (k, v.replace("\\n", " ").replace("\\t", " ").replace("\\r", " "))
        out.append(text)
    def end(name): out.append("</" + name)
    parser = xml.parsers.expat.ParserCreate()
    parser.ordered_attributes = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.ParseFile(open(sys.argv[1], "rb"))
    except xml.parsers.expat.ExpatError:
        sys.exit(3)
    sys.stdout.buffer.write("\\0".join(out).encode())
    """

  /// Returns expat's events, or `nil` if the document isn't well-formed.
  private func expat(_ path: String) throws -> [String]? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = ["-c", Self.script, path]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    if process.terminationStatus == 3 { return nil }
    try #require(process.terminationStatus == 0)
    return String(decoding: output, as: UTF8.self).components(separatedBy: "\0")
  }

  private func scanner(_ source: any ByteSource, chunkSize: Int) throws -> [String] {
    var events: [String] = []
    var scanner = XMLScanner(source: source, chunkSize: chunkSize)
    guard try scanner.skipProlog(comment: { _ in }) else { return [] }
    while true {
      switch try scanner.next() {
      case .open:
        var text = "<" + XMLText.decode(scanner.name)
        for index in 0..<scanner.attributeCount {
          let attribute = scanner.attribute(index)
          // Expat makes spaces of what XML 1.0 section 3.3.3 lists; an import keeps it.
          let value = XMLText.decode(attribute.value).replacing("\n", with: " ").replacing("\t", with: " ")
            .replacing("\r", with: " ")
          text += " \(XMLText.decode(attribute.name))='\(value)'"
        }
        events.append(text)
        if scanner.isSelfClosing { events.append("</" + XMLText.decode(scanner.name)) }
      case .close: events.append("</" + XMLText.decode(scanner.name))
      case .malformed: events.append("malformed")
      case .text: continue
      case .end: return events
      }
    }
  }

  @Test(.enabled(if: python != nil, "python3 is missing"), arguments: 1...6)
  func bothSeeTheSameElements(seed: Int) throws {
    var maker = DocumentMaker(seed: UInt64(seed))
    let folder = try TemporaryFolder()
    let text = "<?xml version=\"1.0\"?>\n<!-- c --><HealthData locale='x'>\(maker.elements(depth: 0))</HealthData>"
    let path = try folder.write(text, to: "made.xml")
    let expected = try #require(try expat(path), "seed \(seed) is not well-formed")
    #expect(expected.count > 20)
    for chunkSize in [1, 2, 3, 7, 4096, 1 << 16] {
      #expect(try scanner(MemorySource(Array(text.utf8)), chunkSize: chunkSize) == expected, "seed \(seed)")
    }
  }

  @Test(.enabled(if: python != nil && FixtureTests.folder != nil, "python3 or the sample files are missing"))
  func bothSeeTheSameInSampleFiles() throws {
    let folder = try #require(FixtureTests.folder)
    var compared = 0
    for case let name as String in try #require(FileManager.default.enumerator(atPath: folder)) {
      let path = "\(folder)/\(name)"
      guard name.hasSuffix(".xml"), ContentKind(try FileSource(path: path).prefix(1 << 16)) == .healthData,
        let expected = try expat(path)
      else { continue }
      let seen = try scanner(FileSource(path: path), chunkSize: 1 << 16)
      #expect(seen == expected, "\(name)")
      compared += 1
    }
    #expect(compared >= 3)
  }
}

/// A generator of well-formed documents from a seed.
private struct DocumentMaker {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed) }

  private mutating func one(of texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }

  mutating func elements(depth: Int) -> String {
    (0..<Int.random(in: depth == 0 ? 40...60 : 0...3, using: &generator)).map { _ in element(depth: depth) }.joined()
  }

  private mutating func element(depth: Int) -> String {
    let between = one(of: [
      "", "\n ", "text", "<!-- <a> -- -->".replacing(" -- ", with: " "), "<![CDATA[<b c=\"]>]]>", "<?pi <c ?>",
    ])
    let name = one(of: ["Record", "MetadataEntry", "Récord", "a-b.c", "x:y", "R"])
    var text = "\(between)<\(name)"
    for index in 0..<Int.random(in: 0...5, using: &generator) {
      let quote = one(of: ["\"", "'"])
      let value = one(of: [
        "", "72", "a > b", "&lt;&amp;&gt;&quot;&apos;", "&#183;&#x1F634;", "Nam’s", "tab\there", "line\nfeed", "/",
        String(repeating: "long ", count: 300),
      ])
      text += "\(one(of: [" ", "  ", "\n"]))\(one(of: ["k", "value", "é"]))\(index)\(one(of: ["=", " = "]))"
      text += quote + value + quote
    }
    if Bool.random(using: &generator) { return text + one(of: ["/>", " />"]) }
    return text + one(of: [">", " >"]) + (depth < 5 ? elements(depth: depth + 1) : "")
      + "</\(name)\(one(of: ["", " "]))>"
  }
}

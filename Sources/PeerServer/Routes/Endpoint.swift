import HTTPTypes
import Hummingbird
import PeerProtocol

/// The declaration of a route: method, path, access and handler. The answers to HEAD and to wrong methods (405 with
/// `Allow`) are derived from it.
struct Endpoint<Group: EndpointGroup>: Sendable {
  typealias Handler = @Sendable (Request, PeerRequestContext) async throws -> Response

  let method: HTTPRequest.Method
  /// The path, one of ``Route``.
  let path: String
  let access: EndpointAccess
  let handler: @Sendable (Group) -> Handler

  init(
    _ method: HTTPRequest.Method, _ path: String, for access: EndpointAccess,
    _ handler: @escaping @Sendable (Group) -> Handler
  ) {
    (self.method, self.path, self.access, self.handler) = (method, path, access, handler)
  }
}

/// The access level of a route.
enum EndpointAccess: Hashable {
  case anyone
  /// Callers with a valid token, with a limited number of concurrent answers each.
  case paired
  /// Clients that may read samples. The store is shared fairly among them, and authorization is rechecked until the
  /// answer ends.
  case reading
  /// Clients as in ``reading``, and those that may only read daily values.
  case counting
}

/// A group of related routes with their dependencies.
protocol EndpointGroup: Sendable {
  static var endpoints: [Endpoint<Self>] { get }
}

extension EndpointGroup {
  func add(to routers: AccessRouters) {
    for endpoint in Self.endpoints {
      routers.on(endpoint.method, endpoint.path, for: endpoint.access, use: endpoint.handler(self))
    }
  }

  /// The methods of each path. HEAD is included wherever GET is.
  static var methods: [String: Set<HTTPRequest.Method>] {
    endpoints.reduce(into: [:]) { methods, endpoint in
      methods[endpoint.path, default: []].formUnion(endpoint.method == .get ? [.get, .head] : [endpoint.method])
    }
  }
}

/// The routers with the middleware of each ``EndpointAccess``.
struct AccessRouters {
  let anyone: Router<PeerRequestContext>
  let paired: RouterGroup<PeerRequestContext>
  let reading: RouterGroup<PeerRequestContext>
  let counting: RouterGroup<PeerRequestContext>

  fileprivate func on(
    _ method: HTTPRequest.Method, _ path: String, for access: EndpointAccess,
    use handler: @escaping @Sendable (Request, PeerRequestContext) async throws -> Response
  ) {
    switch access {
    case .anyone: anyone.on(RouterPath(path), method: method, use: handler)
    case .paired: paired.on(RouterPath(path), method: method, use: handler)
    case .reading: reading.on(RouterPath(path), method: method, use: handler)
    case .counting: counting.on(RouterPath(path), method: method, use: handler)
    }
  }
}

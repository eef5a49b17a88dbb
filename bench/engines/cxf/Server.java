// The server of `rpc` as Apache CXF's users write it: JAXB classes as wsdl2java makes them of bench.wsdl. Answers with what it was sent.
//
// java -cp "JARS/*:." Server. Prints its address; ends with its input.

import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlAttribute;
import jakarta.xml.bind.annotation.XmlRootElement;
import jakarta.xml.bind.annotation.XmlSchemaType;
import jakarta.xml.bind.annotation.XmlType;
import jakarta.xml.ws.Endpoint;
import java.math.BigDecimal;
import java.net.ServerSocket;
import java.util.List;
import javax.xml.datatype.XMLGregorianCalendar;

public class Server {
    static final String BENCH = "urn:bsoap:bench";

    @XmlRootElement(name = "doubles", namespace = BENCH)
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Doubles {
        protected List<Double> item;
    }

    @XmlRootElement(name = "ints", namespace = BENCH)
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Ints {
        protected List<Integer> item;
    }

    @XmlType(propOrder = {"number", "name", "email", "vat"})
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Customer {
        protected long number;
        protected String name;
        protected String email;
        protected String vat;
    }

    @XmlType(propOrder = {"name", "street", "house", "city", "postcode", "country", "latitude", "longitude"})
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Address {
        protected String name;
        protected String street;
        protected int house;
        protected String city;
        protected String postcode;
        protected String country;
        protected Double latitude;
        protected Double longitude;
    }

    @XmlType(propOrder = {"sku", "description", "quantity", "price", "weight", "discount", "taxRate", "inStock", "due"})
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Line {
        protected String sku;
        protected String description;
        protected int quantity;
        protected BigDecimal price;
        protected double weight;
        protected Double discount;
        protected double taxRate;
        protected boolean inStock;
        @XmlSchemaType(name = "date")
        protected XMLGregorianCalendar due;
        @XmlAttribute(required = true)
        protected int number;
    }

    @XmlType(propOrder = {"net", "tax", "gross", "weight", "parcels", "discount"})
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Totals {
        protected BigDecimal net;
        protected BigDecimal tax;
        protected BigDecimal gross;
        protected double weight;
        @XmlSchemaType(name = "unsignedInt")
        protected long parcels;
        protected Double discount;
    }

    @XmlType(propOrder = {"method", "reference", "due", "signature"})
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Payment {
        protected String method;
        protected String reference;
        @XmlSchemaType(name = "date")
        protected XMLGregorianCalendar due;
        protected byte[] signature;
    }

    @XmlRootElement(name = "order", namespace = BENCH)
    @XmlType(propOrder = {"number", "placed", "priority", "express", "note", "customer", "billing", "shipping", "line", "totals", "payment"})
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Order {
        protected String number;
        @XmlSchemaType(name = "dateTime")
        protected XMLGregorianCalendar placed;
        protected int priority;
        protected boolean express;
        protected String note;
        protected Customer customer;
        protected Address billing;
        protected Address shipping;
        protected List<Line> line;
        protected Totals totals;
        protected Payment payment;
        @XmlAttribute(required = true)
        protected long id;
        @XmlAttribute(required = true)
        protected String currency;
    }

    @WebService(targetNamespace = BENCH, name = "Bench", serviceName = "Bench", portName = "Bench")
    @SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
    public static class Bench {
        @WebResult(name = "doubles", targetNamespace = BENCH, partName = "parameters")
        public Doubles doubles(@WebParam(name = "doubles", targetNamespace = BENCH, partName = "parameters") Doubles all) {
            return all;
        }

        @WebResult(name = "ints", targetNamespace = BENCH, partName = "parameters")
        public Ints ints(@WebParam(name = "ints", targetNamespace = BENCH, partName = "parameters") Ints all) {
            return all;
        }

        @WebResult(name = "order", targetNamespace = BENCH, partName = "parameters")
        public Order order(@WebParam(name = "order", targetNamespace = BENCH, partName = "parameters") Order order) {
            return order;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Endpoint.publish("http://127.0.0.1:" + port + "/bench", new Bench());
        System.out.println("127.0.0.1:" + port);
        while (System.in.read() >= 0) {
            // Nothing is said here; the end is what is waited for.
        }
        System.exit(0);
    }
}
